import { useMemo, useState } from "preact/hooks";
import type { APIObject } from "./api";
import { describe, ownedLines } from "./ownership";

// Fields shows an object as YAML and, beside each line, who manages what stands on it.
export function Fields({ object }: { object: APIObject }) {
  const lines = useMemo(() => ownedLines(object), [object]);
  const managers = object.metadata.managedFields ?? [];
  const [chosen, setChosen] = useState(-1);
  return (
    <>
      <p class="hint">
        Each line shows the managers of its field. Applying another value as another manager is a conflict, unless forced. Fields without a manager were
        set by the server.
      </p>
      {managers.length === 0 && <p>This object has no managed fields.</p>}
      <ul class="managers" aria-label="Managers">
        {managers.map((m, i) => (
          <li key={i}>
            <button aria-pressed={chosen === i} class={"manager m" + (i % 8)} onClick={() => setChosen(chosen === i ? -1 : i)}>
              {m.manager}
            </button>{" "}
            <span class="hint">{describe(m)}</span>
          </li>
        ))}
      </ul>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields and their managers">
        <table class="fields">
          <thead class="unseen">
            <tr>
              <th scope="col">Managers</th>
              <th scope="col">Field</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line, i) => (
              <tr key={i} class={chosen >= 0 && !line.managers.includes(chosen) ? "faded" : ""} title={line.path}>
                <td class="owners">
                  {line.managers.map((m) => (
                    <span key={m} class={"manager m" + (m % 8)}>
                      {managers[m].manager}
                    </span>
                  ))}
                </td>
                <td>
                  <code>{line.text}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
