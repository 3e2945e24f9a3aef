// The API of the server, as the pages use it: with the token of who has signed in, and errors that say what the server said.

export interface Config {
  naming: string;
  version: string;
  groups: { meta: string; authentication: string; authorization: string; apidiscovery: string; apiextensions: string };
  signIn: { clientID: string; authorizationEndpoint: string; tokenEndpoint: string } | null;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

export interface ManagedFields {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  time?: string;
  subresource?: string;
  fieldsV1?: FieldSet;
}

// A FieldSet has "f:" and a field's name, "k:" and the keys of an entry, "v:" and a value, or "i:" and an index as its keys, and
// "." for the value itself.
export type FieldSet = { [element: string]: FieldSet };

export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFields[];
}

// An APIObject is any object of the server; what is in it beside its metadata depends on its kind.
export interface APIObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [field: string]: any;
}

export interface Table {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  columnDefinitions: { name: string; type: string; format: string; description: string; priority: number }[];
  rows: TableRow[];
}

export interface TableRow {
  cells: any[];
  object: { metadata: Metadata };
}

export interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

// A Resource is a kind of objects that the server has.
export interface Resource {
  group: string;
  version: string;
  resource: string; // plural name
  kind: string;
  namespaced: boolean;
  verbs: string[];
  subresources: string[];
}

// A Failure is an answer of the server that is no success.
export class Failure extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly causes: { field?: string; message?: string }[],
  ) {
    super(message);
  }
}

const tokenKey = "token";

export class Client {
  constructor(readonly config: Config) {}

  get token(): string {
    return sessionStorage.getItem(tokenKey) ?? "";
  }

  set token(token: string) {
    if (token) sessionStorage.setItem(tokenKey, token);
    else sessionStorage.removeItem(tokenKey);
  }

  private gone = false;

  // signOut forgets the token. The page is about to go, so nothing more is asked: the server would take it for somebody unknown.
  signOut() {
    this.gone = true;
    this.token = "";
  }

  async fetch(path: string, init: RequestInit & { accept?: string } = {}): Promise<Response> {
    if (this.gone) return new Promise(() => {});
    const headers = new Headers(init.headers);
    headers.set("Accept", init.accept ?? "application/json");
    if (this.token) headers.set("Authorization", "Bearer " + this.token);
    const answer = await fetch(path, { ...init, headers, credentials: "same-origin", redirect: "error" });
    if (!answer.ok) throw await failure(answer);
    return answer;
  }

  async json<T>(path: string, init?: RequestInit & { accept?: string }): Promise<T> {
    return (await this.fetch(path, init)).json();
  }

  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.json<T>(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal });
  }

  // user is who has signed in, as the server sees them.
  async user(): Promise<{ username: string; groups: string[] }> {
    const version = this.config.groups.authentication + "/v1";
    const review = await this.post<any>("/apis/" + version + "/selfsubjectreviews", { apiVersion: version, kind: "SelfSubjectReview" });
    return { username: review.status.userInfo.username, groups: review.status.userInfo.groups ?? [] };
  }

  // resources are all kinds of objects that can be listed, in the version that the server prefers.
  async resources(): Promise<Resource[]> {
    const accept = `application/json;g=${this.config.groups.apidiscovery};v=v2;as=APIGroupDiscoveryList`;
    const lists = await Promise.all(["/api", "/apis"].map((path) => this.json<any>(path, { accept })));
    const all: Resource[] = [];
    for (const group of lists.flatMap((list) => list.items)) {
      const seen = new Set<string>();
      for (const version of group.versions)
        for (const r of version.resources ?? []) {
          if (seen.has(r.resource) || !r.verbs?.includes("list")) continue;
          seen.add(r.resource);
          all.push({
            group: group.metadata.name ?? "",
            version: version.version,
            resource: r.resource,
            kind: r.responseKind.kind,
            namespaced: r.scope === "Namespaced",
            verbs: r.verbs,
            subresources: (r.subresources ?? []).map((s: any) => s.subresource),
          });
        }
    }
    return all;
  }

  tableAccept(): string {
    return `application/json;as=Table;v=v1;g=${this.config.groups.meta}`;
  }

  // watch calls back for each event, until the signal ends it or the server does. It resolves when the server has ended it.
  async watch<T>(path: string, accept: string, signal: AbortSignal, each: (e: WatchEvent<T>) => void): Promise<void> {
    const answer = await this.fetch(path, { accept, signal });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop()!;
      for (const line of lines) if (line) each(JSON.parse(line));
    }
  }
}

async function failure(answer: Response): Promise<Failure> {
  const text = await answer.text();
  try {
    const status = JSON.parse(text);
    return new Failure(answer.status, status.reason ?? "", status.message || answer.statusText, status.details?.causes ?? []);
  } catch {
    return new Failure(answer.status, "", text.trim() || answer.statusText, []);
  }
}

// path is where the objects of a kind are; one of them, if a name is given.
export function path(r: Resource, namespace?: string, name?: string): string {
  const group = r.group ? `/apis/${r.group}/${r.version}` : `/api/${r.version}`;
  const within = r.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return group + within + "/" + r.resource + (name ? "/" + encodeURIComponent(name) : "");
}

// resourceOf finds the kind of an object.
export function resourceOf(all: Resource[], apiVersion: string, kind: string): Resource | undefined {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return all.find((r) => r.group === group && r.kind === kind);
}
