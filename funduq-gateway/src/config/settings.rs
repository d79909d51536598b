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
            /// The names of all settings, as they stand in a file.
            pub(crate) const NAMES: &[&str] = &[$(settings!(@name $name)),+];

            /// The names of those that are among these.
            pub(crate) fn given(&self) -> Vec<&'static str> {
                let all = Self::NAMES.iter().zip([$(self.$name.is_some()),+]);
                all.filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect()
            }

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

        impl Config {
            /// Every setting, as it is shown to a person.
            pub(crate) fn shown(&self) -> Vec<Shown> {
                let texts = [$(shown::Value::toml(&self.$name)),+];
                let variables = [$($env),+];
                let named = Options::NAMES.iter().zip(variables).zip(texts);
                named.map(|((name, variable), value)| Shown { name, variable, value }).collect()
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
    (@name $name:ident) => {{
        const NAME: &str = stringify!($name);
        const KEBAB: [u8; NAME.len()] = settings::kebab(NAME);
        match std::str::from_utf8(&KEBAB) {
            Ok(name) => name,
            Err(_) => panic!("one ASCII character in place of another leaves the text a text"),
        }
    }};
    (@num_args flag) => { 0..=1 };
    (@num_args $($kind:ident)?) => { 1 };
    (@missing flag) => { "true" };
    (@missing $($kind:ident)?) => { "" };
}

/// A name as it stands in a file and on the command line.
pub(super) const fn kebab<const N: usize>(name: &str) -> [u8; N] {
    let (name, mut kebab) = (name.as_bytes(), [0; N]);
    let mut at = 0;
    while at < N {
        kebab[at] = if name[at] == b'_' { b'-' } else { name[at] };
        at += 1;
    }
    kebab
}

pub(super) use settings;
