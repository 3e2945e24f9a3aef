import { useMemo, useState } from "preact/hooks";
import { parse } from "yaml";
import { type APIObject, path, type Resource } from "./api";
import { Difference, plain } from "./difference";
import { Problem } from "./problem";
import { useSession } from "./session";

// Trial lets people edit an object and shows what the server would make of it. Nothing is stored: the update is a dry run.
export function Trial({ resource, object }: { resource: Resource; object: APIObject }) {
  const { client } = useSession();
  const [before, setBefore] = useState(object); // stays while somebody edits, whatever changes
  const text = useMemo(() => plain(before), [before]);
  const [edited, setEdited] = useState(text);
  const [result, setResult] = useState<{ after: APIObject; warnings: string }>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const attempt = async () => {
    setBusy(true);
    setError(undefined);
    setResult(undefined);
    try {
      const body = parse(edited);
      const answer = await client.fetch(path(resource, before.metadata.namespace, before.metadata.name) + "?dryRun=All&fieldValidation=Strict&fieldManager=console", {
        method: "PUT",
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      });
      setResult({ after: await answer.json(), warnings: answer.headers.get("Warning") ?? "" });
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  const outdated = object.metadata.resourceVersion !== before.metadata.resourceVersion;
  return (
    <>
      <p class="hint">Edit the object to see the result of a dry run. Nothing is stored.</p>
      {outdated && (
        <p class="problem" role="status">
          The object has changed in the meantime.{" "}
          <button
            onClick={() => {
              setBefore(object);
              setEdited(plain(object));
              setResult(undefined);
            }}
          >
            Reload the current object
          </button>
        </p>
      )}
      <label for="edited">Object as YAML</label>
      <textarea id="edited" spellcheck={false} rows={Math.min(30, edited.split("\n").length + 1)} value={edited} onInput={(e) => setEdited(e.currentTarget.value)} />
      <p>
        <button class="primary" disabled={busy} onClick={attempt}>
          Try it (dry run)
        </button>
      </p>
      {error ? <Problem error={error} /> : null}
      {result && (
        <section aria-label="Result of the dry run" role="status">
          {result.warnings && <p class="problem">{result.warnings.replaceAll('299 - "', "").replaceAll('"', "")}</p>}
          <h2>Accepted by the dry run</h2>
          <Difference before={text} after={plain(result.after)} />
        </section>
      )}
    </>
  );
}
