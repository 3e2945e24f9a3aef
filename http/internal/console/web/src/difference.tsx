import { diffLines } from "diff";
import { stringify } from "yaml";
import type { APIObject } from "./api";

// plain is an object as people edit it: managers are the server's business.
export function plain(o: APIObject): string {
  return stringify({ ...o, metadata: { ...o.metadata, managedFields: undefined } }, { lineWidth: 0, aliasDuplicateObjects: false });
}

// Difference shows the lines that differ, each with three lines around it.
export function Difference({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after).flatMap((part) =>
    part.value
      .replace(/\n$/, "")
      .split("\n")
      .map((text) => ({ text, sign: part.added ? "+" : part.removed ? "-" : " " })),
  );
  if (lines.every((l) => l.sign === " ")) return <p>No changes.</p>;
  const near = (i: number) => lines.slice(Math.max(0, i - 3), i + 4).some((l) => l.sign !== " ");
  return (
    <pre class="difference" tabIndex={0} aria-label="Difference">
      {lines.map((l, i) =>
        near(i) ? (
          <span key={i} class={l.sign === "+" ? "added" : l.sign === "-" ? "removed" : ""}>
            {`${l.sign} ${l.text}\n`}
          </span>
        ) : near(i - 1) ? (
          <span key={i} class="gap">
            {"…\n"}
          </span>
        ) : null,
      )}
    </pre>
  );
}
