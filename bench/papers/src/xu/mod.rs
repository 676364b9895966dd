//! Tables 1 to 4 of \[XuCcd2014\] beside our results: fields, octrees, segments and moving shells.

mod falling;
mod swept_shell;
pub(crate) mod table1;
pub(crate) mod table2;
pub(crate) mod table3;
pub(crate) mod table4;
