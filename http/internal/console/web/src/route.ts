import { useEffect, useState } from "preact/hooks";
import type { Resource } from "./api";

// A Route is what the fragment of the address says: "#/objects/<group>/<resource>/<namespace>/<name>", where the core group and
// the namespace of cluster-wide objects are "-".
export interface Route {
  area: string;
  group: string;
  resource: string;
  namespace: string;
  name: string;
}

function parse(fragment: string): Route {
  const [area = "", group = "", resource = "", namespace = "", name = ""] = fragment.replace(/^#?\/?/, "").split("/").map(decodeURIComponent);
  return { area: area || "overview", group: dash(group), resource, namespace: dash(namespace), name };
}

const dash = (s: string) => (s === "-" ? "" : s);

export function useRoute(): Route {
  const [route, setRoute] = useState(parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

// link leads to the objects of a kind, or to one of them.
export function link(r: Resource, namespace = "", name = ""): string {
  const segments = ["objects", r.group || "-", r.resource, namespace || "-", name];
  return "#/" + segments.map(encodeURIComponent).join("/").replace(/\/$/, "");
}
