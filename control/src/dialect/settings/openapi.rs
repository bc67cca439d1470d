//! Builds the OpenAPI description from the table of routes and the schemas of their methods.

use serde_json::{Map, Value, json};

use super::routes::{BOOTSTRAP, EVENTS, OPENAPI, ROUTES, Route, Shape};
use crate::VERSION;

/// The OpenAPI 3.1 description. Its schemas are JSON Schema.
pub fn describe() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.verb.as_str().to_lowercase()] = operation(route);
    }
    let plain = |summary: &str, kind: &str| {
        json!({"get": {"summary": summary, "responses": {
            "200": {"description": "It.", "content": {kind: {}}},
            "401": {"$ref": "#/components/responses/Error"},
        }}})
    };
    let enter = "Exchanges a one-time code, sent as the bearer token, for the page's token.";
    paths.insert(BOOTSTRAP.to_owned(), plain(enter, "application/json"));
    let events = "Sends the topics of changes as server-sent events without data, until the client disconnects.";
    paths.insert(EVENTS.to_owned(), plain(events, "text/event-stream"));
    paths.insert(OPENAPI.to_owned(), plain("This description.", "application/json"));
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Unterm's settings server", "version": VERSION},
        "paths": paths,
        "security": [{"bearer": []}],
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "responses": {"Error": {
                "description": "What is wrong, as a sentence for the user.",
                "content": {"application/json": {"schema": {
                    "type": "object",
                    "properties": {"error": {"type": "string"}},
                    "required": ["error"],
                }}},
            }},
        },
    })
}

/// The names of the parameters in an address, such as `code` in `/api/i18n/{code}`.
fn in_path(path: &str) -> Vec<&str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
}

/// A schema whose references to its own definitions start with `at`, which is the schema's path in the description.
fn schema(value: Value, at: &str) -> Value {
    let text = value.to_string().replace("\"#/$defs/", &format!("\"#{at}/$defs/"));
    let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    value
}

fn operation(route: &'static Route) -> Value {
    let entry = &route.entry;
    let verb = route.verb.as_str().to_lowercase();
    let at = |rest: &str| {
        // This is a JSON pointer, in which `~1` stands for `/` in a name.
        format!("/paths/{}/{verb}/{rest}", route.path.replace('/', "~1"))
    };
    let named = in_path(route.path);
    let rest =
        if verb == "get" { "x-parameters" } else { "requestBody/content/application~1json/schema" };
    let mut params = schema(entry.params_schema().to_value(), &at(rest));
    // Parameters get the names that this wire uses. Parameters in the address are left out, because they are listed
    // separately.
    if let Some(properties) = params["properties"].as_object_mut() {
        for (here, there) in route.names {
            if let Some(property) = properties.remove(*there) {
                properties.insert((*here).to_owned(), property);
            }
        }
        properties.retain(|name, _| {
            !named.contains(&name.as_str()) && !route.fixed.iter().any(|(fixed, _)| fixed == name)
        });
    }
    if let Some(required) = params["required"].as_array_mut() {
        for name in required.iter_mut() {
            let here = route.names.iter().find(|(_, there)| name == there);
            if let Some((here, _)) = here {
                *name = (*here).into();
            }
        }
        required.retain(|name| {
            let name = name.as_str().unwrap_or_default();
            !named.contains(&name) && !route.fixed.iter().any(|(fixed, _)| *fixed == name)
        });
    }
    let mut parameters: Vec<Value> = named
        .iter()
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let mut operation = json!({"summary": entry.doc, "operationId": operation_id(route)});
    if verb == "get" {
        for name in params["properties"].as_object().into_iter().flat_map(Map::keys) {
            parameters.push(json!({"name": name, "in": "query", "schema": {"type": "string"}}));
        }
    } else {
        operation["requestBody"] = json!({"content": {"application/json": {"schema": params}}});
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    let content = "responses/200/content/application~1json/schema";
    let reply = |rest: &str| schema(entry.reply_schema().to_value(), &at(rest));
    let content = match route.shape {
        Shape::Json => json!({"application/json": {"schema": reply(content)}}),
        Shape::Under(name) => json!({"application/json": {"schema": {
            "type": "object",
            "properties": {name: reply(&format!("{content}/properties/{name}"))},
            "required": [name],
        }}}),
        Shape::Text(_) => json!({"text/plain": {"schema": {"type": "string"}}}),
    };
    operation["responses"] = json!({
        "200": {"description": "Done.", "content": content},
        "default": {"$ref": "#/components/responses/Error"},
    });
    operation
}

/// A unique name for the operation.
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/api/").replace(['/', '.'], "_");
    format!("{}_{}", route.verb.as_str().to_lowercase(), path.replace(['{', '}'], ""))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_describes_every_route_once_and_nothing_else() {
        let page = describe();
        let mut described = BTreeSet::new();
        let mut ids = BTreeSet::new();
        for (path, verbs) in page["paths"].as_object().unwrap() {
            for (verb, operation) in verbs.as_object().unwrap() {
                described.insert(format!("{} {path}", verb.to_uppercase()));
                let id = operation["operationId"].as_str().unwrap_or(path);
                assert!(ids.insert(format!("{verb}{id}")), "{id} is there twice");
            }
        }
        let mut routes: BTreeSet<_> =
            ROUTES.iter().map(|route| format!("{} {}", route.verb, route.path)).collect();
        assert_eq!(routes.len(), ROUTES.len(), "a route is in the table twice");
        routes.extend([BOOTSTRAP, EVENTS, OPENAPI].map(|path| format!("GET {path}")));
        assert_eq!(described, routes);
    }

    #[test]
    fn every_reference_in_it_leads_somewhere() {
        fn walk(value: &Value, root: &Value) {
            match value {
                Value::Object(map) => {
                    if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                        let there = root.pointer(reference.strip_prefix('#').unwrap());
                        assert!(there.is_some(), "{reference} leads nowhere");
                    }
                    map.values().for_each(|value| walk(value, root));
                }
                Value::Array(list) => list.iter().for_each(|value| walk(value, root)),
                _ => {}
            }
        }
        let page = describe();
        walk(&page, &page);
    }
}
