//! The source of random numbers of all suites: the library's own.

pub use touchfield::geom::Random;
