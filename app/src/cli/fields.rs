//! Writes any JSON value as text for the user: names and values, and tables for lists of objects.

use serde_json::{Map, Value};

/// Writes a value as text. Each line has a line end. Null and empty lists become an empty text.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(object) => of_object(object),
        Value::Array(list) if is_table(list) => of_list(list),
        Value::Array(list) => list.iter().map(|one| format!("{}\n", inline(one))).collect(),
        scalar => format!("{}\n", inline(scalar)),
    }
}

/// Writes a table. Each column is as wide as its widest entry. The last column has no padding.
pub fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<_> = std::iter::once(head.to_vec()).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..head.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Whether a list is shown as a table, which is the case if all items are objects.
fn is_table(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(Value::is_object)
}

/// Writes an object: first the names with single values, then the tables, each below its name.
fn of_object(object: &Map<String, Value>) -> String {
    let (mut lines, mut tables) = (Vec::new(), Vec::new());
    collect("", object, &mut lines, &mut tables);
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text: String = lines
        .iter()
        .map(|(name, value)| format!("{}\n", format!("{name:width$}  {value}").trim_end()))
        .collect();
    let is_alone = text.is_empty() && tables.len() == 1;
    for (name, table) in tables {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&if is_alone { table } else { format!("{name}:\n{table}") });
    }
    text
}

/// Sorts the members of an object into lines and tables. Members of inner objects have names with dots, such as
/// `outer.inner`.
fn collect(
    prefix: &str,
    object: &Map<String, Value>,
    lines: &mut Vec<(String, String)>,
    tables: &mut Vec<(String, String)>,
) {
    for (name, value) in object {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                collect(&format!("{name}."), inner, lines, tables);
            }
            Value::Array(list) if is_table(list) => tables.push((name, of_list(list))),
            value => lines.push((name, inline(value))),
        }
    }
}

/// Writes a table. Each name in any of the list's objects has a column.
fn of_list(list: &[Value]) -> String {
    let mut names: Vec<&String> = Vec::new();
    for name in list.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let head: Vec<_> = names.iter().map(|name| name.to_uppercase()).collect();
    let rows =
        list.iter().map(|one| names.iter().map(|name| inline(&one[name.as_str()])).collect());
    table(&head, rows)
}

/// Writes a value on a single line.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.replace('\n', " "),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => list.iter().map(inline).collect::<Vec<_>>().join(", "),
        Value::Object(object) => {
            let pairs = object.iter().map(|(name, value)| format!("{name}={}", inline(value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_names_and_values() {
        let value = json!({"name": "unterm", "ok": true, "none": null, "list": [1, "a"],
            "ports": {"http": 2, "mcp": 1}});
        assert_eq!(
            text(&value),
            "list        1, a\nname        unterm\nnone\nok          yes\nports.http  2\nports.mcp   1\n"
        );
    }

    #[test]
    fn a_list_of_objects_is_a_table_below_its_name() {
        let rows = json!([{"id": 1, "title": "a\nb"}, {"id": 10, "at": {"x": 1}}]);
        let table = "ID  TITLE  AT\n1   a b\n10         x=1\n";
        assert_eq!(text(&rows), table);
        assert_eq!(text(&json!({ "rows": rows })), table);
        assert_eq!(text(&json!({"rows": rows, "n": 2})), format!("n  2\n\nrows:\n{table}"));
    }

    #[test]
    fn nothing_is_nothing() {
        for nothing in [json!(null), json!([]), json!({})] {
            assert_eq!(text(&nothing), "");
        }
        assert_eq!(text(&json!("a")), "a\n");
        assert_eq!(text(&json!(["a", "b"])), "a\nb\n");
    }
}
