//! Tables of a TOML file with the place of everything in them.
//!
//! Input: a parsed table. Output: typed values, or an error that names line and key.
//! Cost: one pass over the file. Not for: writing.
//!
//! Every key that is read is remembered, so that [`Table::finish`] finds those that are not known.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

use glam::{DQuat, DVec3};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::frame::Frame;
use crate::scene::error::{Problem, SceneError, hint};

/// Text of a file and its name, for errors.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    pub(super) file: &'t Path,
}

impl Source<'_> {
    /// Returns the line of a byte, counted from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        1 + before.iter().filter(|&&b| b == b'\n').count()
    }

    pub(super) fn error(&self, at: usize, key: &str, problem: Problem) -> SceneError {
        SceneError {
            file: self.file.to_owned(),
            line: self.line(at),
            key: key.to_owned(),
            problem: Box::new(problem),
        }
    }
}

/// A value with its place and its full key.
#[derive(Clone)]
pub(super) struct Value<'t> {
    source: Source<'t>,
    key: String,
    at: Range<usize>,
    value: &'t DeValue<'t>,
}

/// A table with its place and its full key.
pub(super) struct Table<'t> {
    pub(super) source: Source<'t>,
    pub(super) key: String,
    pub(super) at: usize,
    table: &'t DeTable<'t>,
    known: RefCell<Vec<&'static str>>,
}

impl<'t> Table<'t> {
    pub(super) fn new(
        source: Source<'t>,
        key: impl Into<String>,
        at: usize,
        table: &'t DeTable<'t>,
    ) -> Table<'t> {
        Table {
            source,
            key: key.into(),
            at,
            table,
            known: RefCell::default(),
        }
    }

    fn full(&self, key: &str) -> String {
        match self.key.as_str() {
            "" => key.to_owned(),
            table => format!("{table}.{key}"),
        }
    }

    /// Returns the value of a key, if the file has it, and remembers that the key is known.
    pub(super) fn get(&self, key: &'static str) -> Option<Value<'t>> {
        self.known.borrow_mut().push(key);
        self.table.get(key).map(|value| self.value(key, value))
    }

    fn value(&self, key: &str, value: &'t Spanned<DeValue<'t>>) -> Value<'t> {
        Value {
            source: self.source,
            key: self.full(key),
            at: value.span(),
            value: value.get_ref(),
        }
    }

    /// Returns all keys with their values, whatever their names.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'t str, Value<'t>)> + '_ {
        let all = self.table.iter();
        all.map(|(key, value)| {
            let name: &'t str = key.get_ref();
            (name, self.value(name, value))
        })
    }

    pub(super) fn error(&self, key: &str, problem: Problem) -> SceneError {
        let at = self.table.iter().find(|(name, _)| name.get_ref() == key);
        let at = at.map_or(self.at, |(name, _)| name.span().start);
        self.source.error(at, &self.full(key), problem)
    }

    /// Fails if the file has a key that was never read.
    pub(super) fn finish(&self) -> Result<(), SceneError> {
        let known = self.known.borrow();
        let unknown = (self.table.iter())
            .filter(|(key, _)| !known.contains(&&**key.get_ref()))
            .min_by_key(|(key, _)| key.span().start);
        match unknown {
            None => Ok(()),
            Some((key, _)) => {
                let hint = hint(key.get_ref(), known.iter().copied());
                let name = self.full(key.get_ref());
                let problem = Problem::UnknownKey { hint };
                Err(self.source.error(key.span().start, &name, problem))
            }
        }
    }

    pub(super) fn number(
        &self,
        key: &'static str,
        default: f64,
        wanted: &str,
        is_fine: impl Fn(f64) -> bool,
    ) -> Result<f64, SceneError> {
        let value = self.get(key).map(|value| value.number(wanted, is_fine));
        value.unwrap_or(Ok(default))
    }

    pub(super) fn flag(&self, key: &'static str, default: bool) -> Result<bool, SceneError> {
        self.get(key).map_or(Ok(default), |value| value.flag())
    }

    pub(super) fn vector(&self, key: &'static str, default: DVec3) -> Result<DVec3, SceneError> {
        let value = self.get(key);
        value.map_or(Ok(default), |value| value.vector("three finite numbers"))
    }

    /// Returns the entry of `all` that the word of a key names.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &'static str,
        default: T,
        all: &[(&'static str, T)],
    ) -> Result<T, SceneError> {
        self.get(key).map_or(Ok(default), |value| value.choice(all))
    }
}

impl<'t> Value<'t> {
    pub(super) fn fails(&self, problem: Problem) -> SceneError {
        self.source.error(self.at.start, &self.key, problem)
    }

    /// Returns the error of a value that is not what it must be.
    pub(super) fn is_not(&self, wanted: impl Into<String>) -> SceneError {
        /// Enough to recognise it.
        const SHOWN: usize = 48;
        let text = self.source.text.get(self.at.clone()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        };
        self.fails(Problem::Value {
            found,
            wanted: wanted.into(),
        })
    }

    pub(super) fn line(&self) -> usize {
        self.source.line(self.at.start)
    }

    fn as_number(&self) -> Option<f64> {
        match self.value {
            DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
            DeValue::Integer(integer) => {
                let digits = integer.as_str().replace('_', "");
                // Beyond 2⁶³ only decimal numbers are of use.
                match i64::from_str_radix(&digits, integer.radix()) {
                    Ok(number) => Some(number as f64),
                    Err(_) => digits.parse().ok(),
                }
            }
            _ => None,
        }
    }

    pub(super) fn number(
        &self,
        wanted: &str,
        is_fine: impl Fn(f64) -> bool,
    ) -> Result<f64, SceneError> {
        let number = self.as_number().filter(|&number| is_fine(number));
        number.ok_or_else(|| self.is_not(wanted))
    }

    /// Returns a whole number within a range.
    pub(super) fn whole(&self, range: std::ops::RangeInclusive<u32>) -> Result<u32, SceneError> {
        let (low, high) = (f64::from(*range.start()), f64::from(*range.end()));
        let wanted = format!("a whole number from {low} to {high}");
        let number = self.number(&wanted, |n| n >= low && n <= high && n.fract() == 0.0)?;
        Ok(number as u32)
    }

    pub(super) fn flag(&self) -> Result<bool, SceneError> {
        let flag = self.value.as_bool();
        flag.ok_or_else(|| self.is_not("true or false"))
    }

    pub(super) fn word(&self, wanted: &str) -> Result<&'t str, SceneError> {
        self.value.as_str().ok_or_else(|| self.is_not(wanted))
    }

    pub(super) fn choice<T: Copy>(&self, all: &[(&'static str, T)]) -> Result<T, SceneError> {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let wanted = format!("one of {}", names.join(", "));
        let word = self.word(&wanted)?;
        let found = all.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let hint = hint(word, names.iter().copied());
            match hint.starts_with("did") {
                true => self.is_not(format!("{wanted}; {hint}")),
                false => self.is_not(wanted),
            }
        })
    }

    pub(super) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(super) fn table(&self, wanted: &str) -> Result<Table<'t>, SceneError> {
        match self.value {
            DeValue::Table(table) => {
                let key = self.key.clone();
                Ok(Table::new(self.source, key, self.at.start, table))
            }
            _ => Err(self.is_not(wanted)),
        }
    }

    pub(super) fn list(&self, wanted: &str) -> Result<Vec<Value<'t>>, SceneError> {
        let DeValue::Array(array) = self.value else {
            return Err(self.is_not(wanted));
        };
        let entries = array.iter().enumerate();
        let entries = entries.map(|(index, entry)| Value {
            source: self.source,
            key: format!("{}[{index}]", self.key),
            at: entry.span(),
            value: entry.get_ref(),
        });
        Ok(entries.collect())
    }

    /// Returns N finite numbers.
    pub(super) fn numbers<const N: usize>(&self, wanted: &str) -> Result<[f64; N], SceneError> {
        let list = self.list(wanted)?;
        let numbers: Result<Vec<f64>, SceneError> = (list.iter())
            .map(|entry| entry.number("a finite number", f64::is_finite))
            .collect();
        let wrong = |_| self.is_not(wanted);
        numbers?.try_into().map_err(wrong)
    }

    pub(super) fn vector(&self, wanted: &str) -> Result<DVec3, SceneError> {
        self.numbers(wanted).map(DVec3::from_array)
    }

    /// Returns a pose, and how far its quaternion's length was from 1 before it was normalised.
    pub(super) fn pose(&self) -> Result<(Frame, f64), SceneError> {
        /// Largest deviation that can be rounding of a unit quaternion to two digits.
        const SLOPPY: f64 = 0.05;
        let wanted = "seven finite numbers TX,TY,TZ,QX,QY,QZ,QW";
        let [tx, ty, tz, qx, qy, qz, qw] = self.numbers(wanted)?;
        let quaternion = DQuat::from_xyzw(qx, qy, qz, qw);
        let off = (quaternion.length() - 1.0).abs();
        let is_unit = off <= SLOPPY;
        if !is_unit {
            let length = quaternion.length();
            return Err(self.is_not(format!(
                "a pose whose quaternion QX,QY,QZ,QW has length 1, and this one has {length}"
            )));
        }
        let pose = Frame {
            rotation: quaternion.normalize(),
            translation: DVec3::new(tx, ty, tz),
        };
        Ok((pose, off))
    }
}
