//! Reads real models, when the environment variable `TOUCHFIELD_MESHES` names a folder of them with
//! its table of counts.

use std::path::Path;

use touchfield::mesh::read::{Cause, Format, Limits, read_file};

#[test]
fn real_models_have_the_documented_number_of_faces() {
    let Some(folder) = std::env::var_os("TOUCHFIELD_MESHES") else {
        return;
    };
    let folder = Path::new(&folder);
    let table = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut read = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (name, faces) = (cells[1], cells[3].replace(',', ""));
        let path = folder.join(name);
        if Format::from_path(&path).is_none() {
            continue;
        }
        let result = read_file(&path, &Limits::default());
        // An index of 0 is an error here; other readers take it for the last vertex.
        match (faces.parse::<usize>(), result) {
            (Ok(_), Err(error)) if name.contains("index_zero") => {
                assert!(matches!(*error.cause, Cause::IndexZero), "{error}");
                assert!(error.to_string().contains("line 20"), "{error}");
            }
            (Ok(faces), Ok(mesh)) => assert_eq!(mesh.faces.len(), faces, "{name}"),
            (Ok(_), Err(error)) => panic!("{error}"),
            (Err(_), Ok(_)) => panic!("{name} should be refused"),
            (Err(_), Err(error)) => assert!(error.to_string().contains(name), "{error}"),
        }
        read += 1;
    }
    assert!(read > 50, "{read} models only");
}
