//! The macro that makes of one table the options as they are given, the configuration in force, and the help.

/// Declares the settings. Each becomes a flag, a variable, a key of the file, and a field of `Config`; its default
/// is written as a person would write it.
macro_rules! settings {
    ($(
        $(#[doc = $doc:literal])+
        $(@$kind:ident)? $name:ident: $type:ty = $default:literal, $env:literal;
    )+) => {
        /// The settings as somebody gave them: on the command line, in the environment or in a file.
        #[derive(Debug, Clone, Default, clap::Args, serde::Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct Options {
            $(
                $(#[doc = $doc])+
                #[arg(
                    long,
                    env = $env,
                    help = concat!($($doc,)+ " [default: ", $default, "]"),
                    num_args = settings!(@num_args $($kind)?),
                    default_missing_value = settings!(@missing $($kind)?),
                )]
                pub $name: Option<$type>,
            )+
        }

        /// The configuration in force.
        #[derive(Debug, Clone)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        impl Options {
            /// These, and what is not among them from `others`.
            #[must_use]
            pub fn or(self, others: Self) -> Self {
                Self { $($name: self.$name.or(others.$name),)+ }
            }

            /// These, and the defaults for the rest.
            #[must_use]
            pub fn resolve(self) -> Config {
                let defaults = Config::default();
                Config { $($name: self.$name.unwrap_or(defaults.$name),)+ }
            }
        }

        impl Default for Config {
            fn default() -> Self {
                Self {
                    $($name: $default.parse().expect("the test of the defaults reads each of them"),)+
                }
            }
        }

        #[cfg(test)]
        #[test]
        fn every_default_can_be_read() {
            $(assert!($default.parse::<$type>().is_ok(), "{}", stringify!($name));)+
        }
    };
    (@num_args flag) => { 0..=1 };
    (@num_args) => { 1 };
    (@missing flag) => { "true" };
    (@missing) => { "" };
}

pub(super) use settings;
