//! The macros that declare wire types.

/// Declares an object type: `fixed` members always have that one value, the
/// others are public fields; what the wire carries beyond them is kept in `extra`.
///
/// Gives the struct, `new` over the required members, a setter for each optional
/// one, serde, the JSON Schema and the check table.
macro_rules! wire_object {
    (
        $(#[doc = $doc:literal])+
        $name:ident {
            $(fixed { $($fixed:literal = $value:literal),+ })?
            required { $( $(#[doc = $rdoc:literal])+ $rf:ident: $rt:ty = $rname:literal $(as $rkind:expr)? ),* $(,)? }
            optional { $( $(#[doc = $odoc:literal])+ $of:ident: $ot:ty = $oname:literal $(as $okind:expr)? ),* $(,)? }
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $rdoc])+ pub $rf: $rt, )*
            $( $(#[doc = $odoc])+ pub $of: Option<$ot>, )*
            /// Members that AG-UI 1.0 does not declare here, in the order they came.
            pub extra: $crate::RawObject,
        }

        impl $name {
            pub(crate) const SHAPE: $crate::wire::Shape = $crate::wire::Shape::new(&[
                    $($( $crate::wire::Field {
                        name: $crate::wire::Name::new($fixed),
                        kind: $crate::wire::Kind::OneOf(&[$value]),
                        required: true,
                    }, )+)?
                    $( $crate::wire::Field {
                        name: $crate::wire::Name::new($rname),
                        kind: $crate::wire::wire_object!(@kind <$rt as $crate::wire::Wire>::KIND $(, $rkind)?),
                        required: true,
                    }, )*
                    $( $crate::wire::Field {
                        name: $crate::wire::Name::new($oname),
                        kind: $crate::wire::wire_object!(@kind <$ot as $crate::wire::Wire>::OPTIONAL $(, $okind)?),
                        required: false,
                    }, )*
                ]);

            $(
                #[doc = concat!("The same with `", $oname, "` set.")]
                #[must_use]
                pub fn $of(mut self, $of: impl Into<$ot>) -> Self {
                    self.$of = Some($of.into());
                    self
                }
            )*
        }

        $crate::wire::wire_object!(@new $name ($($rf: $rt),*) ($($of),*));

        impl $crate::wire::Wire for $name {
            const KIND: $crate::wire::Kind = $crate::wire::Kind::Object(&Self::SHAPE);
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $($( map.serialize_entry($fixed, $value)?; )+)?
                $( map.serialize_entry($rname, &self.$rf)?; )*
                $(
                    if let Some(value) = &self.$of && !$crate::wire::Wire::is_null(value) {
                        map.serialize_entry($oname, value)?;
                    }
                )*
                for (key, value) in self.extra.iter() {
                    // A declared name under `extra` would be the member's second value.
                    if Self::SHAPE.place(key, 0).is_none() {
                        map.serialize_entry(key, value)?;
                    }
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;

                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object (", stringify!($name), ")"))
                    }

                    fn visit_map<A>(self, mut map: A) -> Result<$name, A::Error>
                    where
                        A: serde::de::MapAccess<'de>,
                    {
                        use serde::de::Error;
                        $( let mut $rf: Option<$rt> = None; )*
                        $( let mut $of: Option<$ot> = None; )*
                        let fixed: &mut [(&'static str, bool)] = &mut [$($( ($fixed, false) ),+)?];
                        let mut extra = Vec::new();
                        while let Some(key) = map.next_key::<String>()? {
                            match key.as_str() {
                                $($( $fixed => {
                                    let value = map.next_value::<String>()?;
                                    if value != $value {
                                        let found = serde::de::Unexpected::Str(&value);
                                        return Err(A::Error::invalid_value(found, &$value));
                                    }
                                    for member in &mut *fixed {
                                        member.1 |= member.0 == $fixed;
                                    }
                                } )+)?
                                $( $rname => {
                                    let value = $crate::wire::Wire::read(&mut map)?;
                                    if $rf.replace(value).is_some() {
                                        return Err(A::Error::duplicate_field($rname));
                                    }
                                } )*
                                $( $oname => {
                                    let value = $crate::wire::Wire::read(&mut map)?;
                                    if $of.replace(value).is_some() {
                                        return Err(A::Error::duplicate_field($oname));
                                    }
                                } )*
                                _ => extra.push((key, map.next_value()?)),
                            }
                        }
                        if let Some((name, _)) = fixed.iter().find(|(_, seen)| !seen) {
                            return Err(A::Error::missing_field(name));
                        }
                        Ok($name {
                            $( $rf: $rf.ok_or_else(|| A::Error::missing_field($rname))?, )*
                            $( $of, )*
                            extra: extra.into_iter().collect(),
                        })
                    }
                }

                deserializer.deserialize_map(ObjectVisitor)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::wire::object_schema(generator, &[$($doc),+], &Self::SHAPE, &[
                    $( (&[$($rdoc),+], $rname, schemars::SchemaGenerator::subschema_for::<$rt>), )*
                    $( (&[$($odoc),+], $oname, schemars::SchemaGenerator::subschema_for::<$ot>), )*
                ])
            }
        }
    };

    (@kind $kind:expr) => { $kind };
    (@kind $kind:expr, $override:expr) => { $override };

    (@new $name:ident () ($($of:ident),*)) => {
        impl $name {
            /// One that says nothing yet.
            #[must_use]
            pub fn new() -> Self {
                Self { $( $of: None, )* extra: $crate::RawObject::new() }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    (@new $name:ident ($($rf:ident: $rt:ty),+) ($($of:ident),*)) => {
        impl $name {
            /// One with its required members and nothing else.
            #[must_use]
            pub fn new($($rf: impl Into<$rt>),+) -> Self {
                Self { $( $rf: $rf.into(), )+ $( $of: None, )* extra: $crate::RawObject::new() }
            }
        }
    };
}

/// Declares an open union of object types, told apart by one string member. A
/// member of a later version is kept whole in `Unknown`; so is an object without
/// the tag, where `untagged` says `carried`.
macro_rules! wire_union {
    (
        $(#[doc = $doc:literal])+
        $name:ident by $tag:literal, untagged $untagged:ident {
            $( $(#[doc = $mdoc:literal])+ $variant:ident($member:ty) = $value:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[doc = $mdoc])+ $variant($member), )+
            /// A member that AG-UI 1.0 does not know, as it came.
            Unknown($crate::RawObject),
        }

        impl $name {
            pub(crate) const UNION: $crate::wire::Union = $crate::wire::Union {
                tag: $crate::wire::Name::new($tag),
                members: &[ $( ($crate::wire::Name::new($value), &<$member>::SHAPE), )+ ],
            };
        }

        $(
            impl From<$member> for $name {
                fn from(member: $member) -> Self {
                    Self::$variant(member)
                }
            }
        )+

        impl $crate::wire::Wire for $name {
            const KIND: $crate::wire::Kind = $crate::wire::Kind::Union(&Self::UNION);
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(member) => member.serialize(serializer), )+
                    Self::Unknown(object) => object.serialize(serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
                let tag = $crate::json::Members::of(raw.get()).text($tag);
                match tag.as_deref() {
                    $( Some($value) => serde_json::from_str(raw.get()).map(Self::$variant), )+
                    None if $crate::wire::wire_union!(@refused $untagged) => return Err(D::Error::missing_field($tag)),
                    _ => serde_json::from_str(raw.get()).map(Self::Unknown),
                }
                .map_err(D::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let members = [$( generator.subschema_for::<$member>() ),+];
                $crate::wire::union_schema(&[$($doc),+], &Self::UNION, &members)
            }
        }
    };

    (@refused refused) => { true };
    (@refused carried) => { false };
}

/// Declares a set of strings. A string outside it is kept in `Unknown`, so that
/// it survives decode and encode.
macro_rules! string_enum {
    (
        $(#[doc = $doc:literal])+
        $name:ident {
            $( $(#[doc = $vdoc:literal])+ $variant:ident = $value:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[doc = $vdoc])+ $variant, )+
            /// A string that AG-UI 1.0 does not know.
            Unknown(Box<str>),
        }

        impl $name {
            pub(crate) const NAMES: &[&str] = &[$($value),+];

            /// The string on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $value, )+
                    Self::Unknown(name) => name,
                }
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                match name {
                    $( $value => Self::$variant, )+
                    _ => Self::Unknown(name.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::wire::Wire for $name {
            const KIND: $crate::wire::Kind = $crate::wire::Kind::OneOf(Self::NAMES);
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
                Ok(Self::from(&*name))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::wire::string_schema(&[$($doc),+], Self::NAMES)
            }
        }
    };
}

pub(crate) use {string_enum, wire_object, wire_union};
