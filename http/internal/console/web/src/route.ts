import { useEffect, useState } from "preact/hooks";
import type { Resource } from "./api";

// A Route is what the fragment of the address says: "#/objects/<group>/<resource>/<namespace>/<name>/<revision>", where the core
// group and the namespace of cluster-wide objects are "-". Without a revision, it is the newest.
export interface Route {
  area: string;
  group: string;
  resource: string;
  namespace: string;
  name: string;
  revision: string;
}

function parse(fragment: string): Route {
  const [area = "", group = "", resource = "", namespace = "", name = "", revision = ""] = fragment.replace(/^#?\/?/, "").split("/").map(decodeURIComponent);
  return { area: area || "overview", group: dash(group), resource, namespace: dash(namespace), name, revision };
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

// link leads to the objects of a kind, to one of them, or to a revision of it.
export function link(r: Resource, namespace = "", name = "", revision = ""): string {
  const segments = ["objects", r.group || "-", r.resource, namespace || "-", name, revision];
  return "#/" + segments.map(encodeURIComponent).join("/").replace(/\/+$/, "");
}
