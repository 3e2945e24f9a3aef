import { useEffect, useMemo, useState } from "preact/hooks";
import { type Resource, type Table } from "./api";
import { useLiveTable } from "./livetable";
import { Problem } from "./problem";
import { link, type Route } from "./route";
import { useSession } from "./session";

// Objects shows the kinds on the left and, of the chosen one, the table that the server makes of its objects.
export function Objects({ route }: { route: Route }) {
  const { resources } = useSession();
  const chosen = resources.find((r) => r.group === route.group && r.resource === route.resource);
  return (
    <div class="withsidebar">
      <Kinds chosen={chosen} namespace={route.namespace} />
      <section class="content">
        {chosen ? (
          <ObjectTable key={`${chosen.group}/${chosen.resource}/${route.namespace}`} resource={chosen} namespace={route.namespace} />
        ) : route.resource ? (
          <Problem error={`The server has no resource ${route.resource}${route.group ? "." + route.group : ""}.`} />
        ) : (
          <>
            <h1>Objects</h1>
            <p>Select a kind to list its objects. The page of an object shows the manager of each field.</p>
          </>
        )}
      </section>
    </div>
  );
}

function Kinds({ chosen, namespace }: { chosen: Resource | undefined; namespace: string }) {
  const { resources } = useSession();
  const [filter, setFilter] = useState("");
  const groups = useMemo(() => {
    const byGroup = new Map<string, Resource[]>();
    for (const r of resources) {
      if (!(r.kind + " " + r.resource + " " + r.group).toLowerCase().includes(filter.toLowerCase())) continue;
      byGroup.set(r.group, [...(byGroup.get(r.group) ?? []), r]);
    }
    return [...byGroup].sort(([a], [b]) => a.localeCompare(b));
  }, [resources, filter]);
  return (
    <nav class="sidebar" aria-label="Kinds">
      <label for="kindfilter">Search kinds</label>
      <input id="kindfilter" type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
      {groups.map(([group, kinds]) => (
        <section key={group}>
          <h2>{group || "core"}</h2>
          <ul>
            {kinds
              .sort((a, b) => a.kind.localeCompare(b.kind))
              .map((r) => (
                <li key={r.resource}>
                  <a href={link(r, r.namespaced ? namespace : "")} aria-current={r === chosen ? "page" : undefined}>
                    {r.kind}
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function ObjectTable({ resource, namespace }: { resource: Resource; namespace: string }) {
  const [selector, setSelector] = useState("");
  const [filter, setFilter] = useState("");
  const [wide, setWide] = useState(false);
  const { table, error, live, changed } = useLiveTable(resource, namespace, selector);
  const columns = (table?.columnDefinitions ?? []).map((c, i) => ({ ...c, i })).filter((c) => wide || c.priority === 0);
  const rows = (table?.rows ?? []).filter((r) => !filter || [r.object.metadata.namespace, ...r.cells].join(" ").toLowerCase().includes(filter.toLowerCase()));
  const withNamespace = resource.namespaced && !namespace;
  const more = table?.metadata.remainingItemCount;
  return (
    <>
      <h1>{resource.kind}</h1>
      <div class="toolbar">
        {resource.namespaced && <NamespaceChoice resource={resource} namespace={namespace} />}
        <label>
          Filter
          <input type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
        </label>
        <label>
          Label selector
          <input type="text" placeholder="app=web" spellcheck={false} value={selector} onChange={(e) => setSelector(e.currentTarget.value.trim())} />
        </label>
        <label class="check">
          <input type="checkbox" checked={wide} onChange={(e) => setWide(e.currentTarget.checked)} /> All columns
        </label>
        <span class={live ? "live" : "still"} role="status">
          {live || "not live"}
        </span>
      </div>
      {error ? <Problem error={error} /> : null}
      {table && (
        <div class="scroll" tabIndex={0} role="region" aria-label={"Objects of kind " + resource.kind}>
          <table class="objects">
            <thead>
              <tr>
                {withNamespace && <th scope="col">Namespace</th>}
                {columns.map((c) => (
                  <th key={c.name} scope="col" title={c.description}>
                    {c.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => {
                const m = r.object.metadata;
                return (
                  <tr key={m.uid} class={Date.now() - (changed.get(m.uid) ?? 0) < 2000 ? "changed" : ""}>
                    {withNamespace && <td>{m.namespace}</td>}
                    {columns.map((c) => (
                      <td key={c.name} class={typeof r.cells[c.i] === "number" ? "number" : ""}>
                        {c.format === "name" ? <a href={link(resource, m.namespace, m.name)}>{m.name}</a> : String(r.cells[c.i] ?? "")}
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {table && rows.length === 0 && <p>{table.rows.length === 0 ? "No objects." : "No objects match the filter."}</p>}
      {table?.metadata.continue && (
        <p>
          {more ? `${more.toLocaleString("en")} more are` : "More are"} not shown. A namespace or a label selector shows others.
        </p>
      )}
    </>
  );
}

function NamespaceChoice({ resource, namespace }: { resource: Resource; namespace: string }) {
  const { client } = useSession();
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    // Who may not list namespaces can still write one into the address.
    client.json<Table>("/api/v1/namespaces?limit=1000", { accept: client.tableAccept() }).then(
      (t) => setNames(t.rows.map((r) => r.object.metadata.name)),
      () => setNames([]),
    );
  }, [client]);
  const shown = namespace && !names.includes(namespace) ? [namespace, ...names] : names;
  return (
    <label>
      Namespace
      <select value={namespace} onChange={(e) => location.assign(link(resource, e.currentTarget.value))}>
        <option value="">all</option>
        {shown.map((n) => (
          <option key={n} value={n}>
            {n}
          </option>
        ))}
      </select>
    </label>
  );
}
