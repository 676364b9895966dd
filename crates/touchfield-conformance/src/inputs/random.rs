//! Random numbers of all suites: the library's own generator.

pub use touchfield::geom::Random;
