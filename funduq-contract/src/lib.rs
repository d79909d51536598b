//! Everything funduq invents: signed payloads, the actor chain, the shapes that cross a link, the ports of a link.
