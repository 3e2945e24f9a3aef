import { useEffect, useState } from "preact/hooks";
import type { APIObject } from "./api";
import { Problem } from "./problem";
import { link } from "./route";
import { useSession } from "./session";

// Definitions lists the kinds that users have defined, and the fields that their schemas give them.
export function Definitions() {
  const { client, resources } = useSession();
  const [definitions, setDefinitions] = useState<APIObject[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    client
      .json<{ items: APIObject[] }>(`/apis/${client.config.groups.apiextensions}/v1/customresourcedefinitions?limit=1000`)
      .then((list) => setDefinitions(list.items), setError);
  }, [client]);
  return (
    <>
      <h1>Definitions</h1>
      {error ? <Problem error={error} /> : null}
      {!definitions && !error && <p class="loading">Loading …</p>}
      {definitions?.length === 0 && <p>There are no definitions.</p>}
      {definitions?.map((d) => {
        const served = resources.find((r) => r.group === d.spec.group && r.resource === d.spec.names.plural);
        return (
          <details key={d.metadata.uid} class="definition">
            <summary>
              <strong>{d.spec.names.kind}</strong> <span>{d.metadata.name}</span> <Conditions definition={d} />
            </summary>
            <p>
              {d.spec.scope}. Versions{" "}
              {d.spec.versions
                .map((v: any) => v.name + (v.storage ? " (stored)" : "") + (v.served ? "" : " (not served)") + (v.deprecated ? " (deprecated)" : ""))
                .join(", ")}
              . {served && <a href={link(served)}>Objects</a>}
            </p>
            {d.spec.versions
              .filter((v: any) => v.served && v.schema?.openAPIV3Schema)
              .map((v: any) => (
                <section key={v.name}>
                  <h2>{v.name}</h2>
                  <ul class="schema">
                    <SchemaFields schema={v.schema.openAPIV3Schema} />
                  </ul>
                </section>
              ))}
          </details>
        );
      })}
    </>
  );
}

function Conditions({ definition }: { definition: APIObject }) {
  const conditions: { type: string; status: string; message?: string }[] = definition.status?.conditions ?? [];
  return (
    <>
      {conditions.map((c) => (
        <span key={c.type} class={"condition " + (c.status === "True" ? "true" : "false")} title={c.message}>
          {c.type} {c.status}
        </span>
      ))}
    </>
  );
}

// SchemaFields lists the fields of a schema; those within a field are shown when it is opened.
function SchemaFields({ schema }: { schema: any }) {
  const required = new Set<string>(schema.required ?? []);
  const fields = Object.entries<any>(schema.properties ?? {});
  return (
    <>
      {fields.map(([name, field]) => {
        const inner = field.properties ? field : field.items?.properties ? field.items : field.additionalProperties?.properties ? field.additionalProperties : null;
        const head = (
          <>
            <code>{name}</code> <span class="type">{typeName(field)}</span>
            {required.has(name) && <span class="required">required</span>}
            {field.default !== undefined && <span class="hint">default {JSON.stringify(field.default)}</span>}
            {field.description && <span class="hint">{field.description}</span>}
          </>
        );
        return <li key={name}>{inner ? <Lazy head={head} schema={inner} /> : head}</li>;
      })}
    </>
  );
}

// Lazy makes its content when it is first opened, as schemas of real projects have thousands of fields.
function Lazy({ head, schema }: { head: preact.ComponentChildren; schema: any }) {
  const [opened, setOpened] = useState(false);
  return (
    <details onToggle={(e) => e.currentTarget.open && setOpened(true)}>
      <summary>{head}</summary>
      {opened && (
        <ul>
          <SchemaFields schema={schema} />
        </ul>
      )}
    </details>
  );
}

function typeName(s: any): string {
  if (s.type === "array") return "list of " + typeName(s.items ?? {});
  if (s.additionalProperties && typeof s.additionalProperties === "object") return "map of " + typeName(s.additionalProperties);
  return (s.type ?? "any") + (s.format ? ` (${s.format})` : "") + (s.enum ? ": " + s.enum.map((v: unknown) => JSON.stringify(v)).join(" | ") : "");
}
