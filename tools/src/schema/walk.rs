//! Where a schema holds other schemas.

use serde_json::Value;

/// Keywords whose value is one schema.
const SINGLE: [&str; 3] = ["items", "additionalProperties", "propertyNames"];
/// Keywords whose value is a map of schemas.
const MAPS: [&str; 2] = ["properties", "$defs"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// The schemas directly within `schema`, each with its JSON Pointer from there.
pub(super) fn children(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for keyword in SINGLE {
        found.extend(
            schema
                .get(keyword)
                .map(|child| (format!("/{keyword}"), child)),
        );
    }
    for keyword in MAPS {
        let map = schema.get(keyword).and_then(Value::as_object);
        for (name, child) in map.into_iter().flatten() {
            found.push((format!("/{keyword}/{name}"), child));
        }
    }
    for keyword in LISTS {
        let list = schema.get(keyword).and_then(Value::as_array);
        for (at, child) in list.into_iter().flatten().enumerate() {
            found.push((format!("/{keyword}/{at}"), child));
        }
    }
    found
}

/// Calls `change` on the schema and on every one within it, outermost first.
pub(super) fn change_all(
    schema: &mut Value,
    change: &impl Fn(&mut serde_json::Map<String, Value>),
) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    change(object);
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        if SINGLE.contains(&keyword) {
            change_all(value, change);
        } else if MAPS.contains(&keyword) {
            for child in value
                .as_object_mut()
                .into_iter()
                .flat_map(|map| map.values_mut())
            {
                change_all(child, change);
            }
        } else if LISTS.contains(&keyword) {
            for child in value.as_array_mut().into_iter().flatten() {
                change_all(child, change);
            }
        }
    }
}
