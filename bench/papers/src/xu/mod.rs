//! Tables 1 to 4 and Figure 6 of \[XuCcd2014\] beside our results: fields, octrees, segments,
//! moving shells, and the stability of penalty forces.

mod dropped;
mod falling;
pub(crate) mod fig6;
mod fig6_plot;
mod swept_shell;
pub(crate) mod table1;
pub(crate) mod table2;
pub(crate) mod table3;
pub(crate) mod table4;
