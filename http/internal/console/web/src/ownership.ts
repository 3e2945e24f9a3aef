// Who manages which line of an object.

import { isMap, isScalar, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import type { APIObject, FieldSet, ManagedFields } from "./api";

// A Line is a line of an object as YAML, and the managers of what stands on it, as indexes into managedFields.
export interface Line {
  text: string;
  path: string;
  managers: number[];
}

// ownedLines writes an object as YAML and finds the managers of each line. managedFields themselves are left out: they are what
// is shown beside the lines.
export function ownedLines(object: APIObject): Line[] {
  const managers = object.metadata.managedFields ?? [];
  const shown = { ...object, metadata: { ...object.metadata, managedFields: undefined } };
  const text = stringify(shown, { lineWidth: 0, aliasDuplicateObjects: false });
  const lines: Line[] = text.trimEnd().split("\n").map((line) => ({ text: line, path: "", managers: [] }));
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const note = (offset: number, path: string, sets: Owned[]) => {
    const line = lines[counter.linePos(offset).line - 1];
    // Several nodes may begin on one line, as in "- name: x": the innermost says most.
    if (line && path.length >= line.path.length) {
      line.path = path;
      line.managers = sets.flatMap((s, i) => (s.owns ? [i] : []));
    }
  };
  const walk = (node: unknown, path: string, sets: Owned[]) => {
    if (isMap(node)) {
      for (const pair of node.items) {
        const name = isScalar(pair.key) ? String(pair.key.value) : "";
        const inner = sets.map((s) => s.field(name));
        const innerPath = path + (/^[\w-]+$/.test(name) ? "." + name : `[${JSON.stringify(name)}]`);
        note((pair.key as any).range[0], innerPath, inner);
        walk(pair.value, innerPath, inner);
      }
    } else if (isSeq(node)) {
      node.items.forEach((item, i) => {
        const value = (item as any).toJS(document);
        const inner = sets.map((s) => s.item(value, i));
        note((item as any).range[0], `${path}[${i}]`, inner);
        walk(item, `${path}[${i}]`, inner);
      });
    }
  };
  walk(document.contents, "", managers.map((m) => new Owned(m.fieldsV1, false)));
  carryOn(lines);
  return lines;
}

// carryOn gives lines on which nothing begins, as those of a text with several lines, what the line before has.
function carryOn(lines: Line[]): void {
  for (let i = 1; i < lines.length; i++)
    if (lines[i].path === "") {
      lines[i].path = lines[i - 1].path;
      lines[i].managers = lines[i - 1].managers;
    }
}

// An Owned is what one manager owns at some place of the object. Whoever owns a list or map as a whole owns all within it.
class Owned {
  constructor(
    private readonly set: FieldSet | undefined,
    private readonly whole: boolean,
  ) {}

  // owns tells whether the value at this place is owned itself, not only something within it.
  get owns(): boolean {
    return this.whole || (this.set !== undefined && (this.isLeaf || "." in this.set));
  }

  private get isLeaf(): boolean {
    return this.set !== undefined && Object.keys(this.set).length === 0;
  }

  private inner(set: FieldSet | undefined): Owned {
    return new Owned(set, this.whole || this.isLeaf);
  }

  field(name: string): Owned {
    return this.inner(this.set?.["f:" + name]);
  }

  item(value: unknown, index: number): Owned {
    for (const [element, set] of Object.entries(this.set ?? {})) {
      const content = element.slice(2);
      switch (element.slice(0, 2)) {
        case "k:":
          if (hasKeys(value, JSON.parse(content))) return this.inner(set);
          break;
        case "v:":
          if (JSON.stringify(JSON.parse(content)) === JSON.stringify(value)) return this.inner(set);
          break;
        case "i:":
          if (Number(content) === index) return this.inner(set);
      }
    }
    return this.inner(undefined);
  }
}

// hasKeys tells whether an entry of a list has the values of some keys. A key that the entry lacks is one with a default.
function hasKeys(entry: unknown, keys: Record<string, unknown>): boolean {
  if (typeof entry !== "object" || entry === null) return false;
  return Object.entries(keys).every(([name, value]) => {
    const has = (entry as Record<string, unknown>)[name];
    return has === undefined ? name === "protocol" && value === "TCP" : JSON.stringify(has) === JSON.stringify(value);
  });
}

// describe says in words who a manager is.
export function describe(m: ManagedFields): string {
  return [m.operation === "Apply" ? "applied" : "updated", m.subresource ? `through ${m.subresource}` : "", m.time ? `at ${m.time}` : ""]
    .filter(Boolean)
    .join(" ");
}

// author returns the manager that most likely made a change: the owner of most changed lines, otherwise one with a new time. It returns
// "" if no manager changed, as for a delete that waits for finalizers.
export function author(before: APIObject | undefined, after: APIObject): string {
  const key = (m: ManagedFields) => [m.manager, m.operation, m.subresource, m.time].join("/");
  const known = new Set(before?.metadata.managedFields?.map(key));
  const managers = after.metadata.managedFields ?? [];
  const scores = managers.map((m): number => (known.has(key(m)) ? 0 : 1));
  const same = new Set(before && ownedLines(before).map((l) => l.path + l.text));
  for (const l of ownedLines(after)) if (!same.has(l.path + l.text)) for (const m of l.managers) scores[m] += 2;
  const best = Math.max(0, ...scores);
  return best > 0 ? managers[scores.indexOf(best)].manager : "";
}
