//! Lists of networks: addresses, and ranges of them in CIDR notation.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

use super::values::{InvalidValue, read_from_files};

/// Networks, written with commas between them: `10.0.0.0/8, 192.0.2.7, 2001:db8::/32`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// Whether an address is in one of them. An IPv4 address that came over IPv6 is looked at as what it is.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl FromStr for Networks {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let listed = text.split(',').map(str::trim).filter(|network| !network.is_empty());
        listed.map(network).collect::<Result<_, _>>().map(Self)
    }
}

fn network(text: &str) -> Result<IpNet, InvalidValue> {
    let alone = || text.parse::<IpAddr>().map(IpNet::from);
    let network = text.parse::<IpNet>().or_else(|_| alone()).ok();
    // 10.0.0.1/8 is as likely a slip in the length as in the address.
    let exact = network.filter(|network| network.network() == network.addr());
    exact.ok_or_else(|| InvalidValue::new(text, "a network, such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32"))
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, network) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match network.prefix_len() == network.max_prefix_len() {
                true => write!(f, "{comma}{}", network.addr())?,
                false => write!(f, "{comma}{network}")?,
            }
        }
        Ok(())
    }
}

read_from_files!(Networks);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_ranges_and_single_addresses() {
        let networks: Networks = "10.0.0.0/8, 192.0.2.7,2001:db8::/32".parse().unwrap();
        assert_eq!(networks.to_string(), "10.0.0.0/8,192.0.2.7,2001:db8::/32");
        for inside in ["10.255.0.1", "192.0.2.7", "2001:db8::1", "::ffff:10.0.0.1"] {
            assert!(networks.contain(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["11.0.0.1", "192.0.2.8", "2001:db9::1"] {
            assert!(!networks.contain(outside.parse().unwrap()), "{outside}");
        }
        assert!(!"".parse::<Networks>().unwrap().contain("127.0.0.1".parse().unwrap()));
        for wrong in ["10.0.0.1/8", "10.0.0.0/33", "localhost", "10.0.0"] {
            assert!(wrong.parse::<Networks>().is_err(), "{wrong}");
        }
    }
}
