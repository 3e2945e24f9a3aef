import { useEffect, useState } from "preact/hooks";
import { type APIObject, Failure, path, type Resource } from "./api";
import { Events } from "./events";
import { Fields } from "./fields";
import { History } from "./history";
import { Problem } from "./problem";
import { Relations } from "./relations";
import { link, type Route } from "./route";
import { useSession } from "./session";
import { Trial } from "./trial";

// useObject reads an object and follows its changes, or reads a revision; null is one that does not exist.
export function useObject(resource: Resource | undefined, { namespace, name, revision }: Route) {
  const { client } = useSession();
  const [object, setObject] = useState<APIObject | null>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (!resource) return;
    setObject(undefined);
    const ended = new AbortController();
    (async () => {
      const query = revision && `?resourceVersion=${revision}&resourceVersionMatch=Exact`;
      const first = await client.json<APIObject>(path(resource, namespace, name) + query, { signal: ended.signal }).catch((e) => {
        if (revision || !(e instanceof Failure && e.code === 404)) throw e;
        return null;
      });
      setObject(first);
      if (revision) return;
      let version = first?.metadata.resourceVersion ?? "";
      const selector = encodeURIComponent("metadata.name=" + name);
      while (!ended.signal.aborted && resource.verbs.includes("watch"))
        await client.watch<APIObject>(
          `${path(resource, namespace)}?watch=true&fieldSelector=${selector}&resourceVersion=${version}`,
          "application/json",
          ended.signal,
          (event) => {
            if (event.type === "ERROR") throw new Error((event.object as any).message);
            version = event.object.metadata.resourceVersion;
            setObject(event.type === "DELETED" ? null : event.object);
          },
        );
    })().catch((e) => ended.signal.aborted || setError(e));
    return () => ended.abort();
  }, [client, resource, namespace, name, revision]);
  return { object, error };
}

const tabs = ["Fields", "Events", "Relations", "History", "Try a change"] as const;

export function ObjectPage({ route }: { route: Route }) {
  const { resources } = useSession();
  const resource = resources.find((r) => r.group === route.group && r.resource === route.resource);
  const { object, error } = useObject(resource, route);
  const [tab, setTab] = useState<(typeof tabs)[number]>("Fields");
  if (!resource) return <Problem error={`The server has no resource ${route.resource}${route.group ? "." + route.group : ""}.`} />;
  const open = (i: number) => {
    setTab(tabs[(i + tabs.length) % tabs.length]);
    document.getElementById("tab-" + ((i + tabs.length) % tabs.length))?.focus();
  };
  return (
    <>
      <nav aria-label="Way" class="way">
        <a href="#/objects">Objects</a> / <a href={link(resource, route.namespace)}>{resource.kind}</a>
        {route.namespace && <> in {route.namespace}</>}
      </nav>
      <h1>{route.name}</h1>
      {error ? <Problem error={error} /> : null}
      {object === null && (
        <>
          <p class="problem">The object does not exist.</p>
          <History resource={resource} namespace={route.namespace} name={route.name} version="" />
        </>
      )}
      {object && route.revision && (
        <>
          <p class="hint">
            This is revision {object.metadata.resourceVersion}. <a href={link(resource, route.namespace, route.name)}>Current state</a>
          </p>
          <Fields object={object} />
        </>
      )}
      {object && !route.revision && (
        <>
          <div role="tablist" aria-label="Views of the object" class="tabs">
            {tabs.map((name, i) => (
              <button
                key={name}
                id={"tab-" + i}
                role="tab"
                aria-selected={tab === name}
                aria-controls="panel"
                tabIndex={tab === name ? 0 : -1}
                onClick={() => setTab(name)}
                onKeyDown={(e) => {
                  if (e.key === "ArrowRight") open(i + 1);
                  if (e.key === "ArrowLeft") open(i - 1);
                }}
              >
                {name}
              </button>
            ))}
          </div>
          <div role="tabpanel" id="panel" aria-labelledby={"tab-" + tabs.indexOf(tab)}>
            {tab === "Fields" && <Fields object={object} />}
            {tab === "Events" && <Events object={object} />}
            {tab === "Relations" && <Relations resource={resource} object={object} />}
            {tab === "History" && <History resource={resource} namespace={route.namespace} name={route.name} version={object.metadata.resourceVersion} />}
            {tab === "Try a change" && <Trial resource={resource} object={object} />}
          </div>
        </>
      )}
    </>
  );
}
