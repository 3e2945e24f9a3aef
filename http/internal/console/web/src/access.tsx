import { useEffect, useMemo, useState } from "preact/hooks";
import type { Resource } from "./api";
import { Problem } from "./problem";
import { useSession } from "./session";

const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

// A Question is whose rights are asked for, and where.
interface Question {
  user: string; // "" is who has signed in
  groups: string[];
  namespace: string; // "" is all of them
}

type Answer = "yes" | "no" | "unknown";

// Access shows who may do what as a matrix of kinds and verbs. Each cell is the answer of the server to a review of access, so
// it is true in whatever way the server decides.
export function Access() {
  const { user } = useSession();
  const [question, setQuestion] = useState<Question>({ user: "", groups: [], namespace: "" });
  const ask = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    const subject = text("user");
    const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(subject);
    const groups = text("groups").split(/[\s,]+/).filter(Boolean);
    if (account) groups.push("system:serviceaccounts", "system:serviceaccounts:" + account[1]);
    setQuestion({ user: subject, groups: subject ? [...new Set([...groups, "system:authenticated"])] : [], namespace: text("namespace") });
  };
  return (
    <>
      <h1>Authentication and authorization</h1>
      <form
        class="toolbar"
        onSubmit={(e) => {
          e.preventDefault();
          ask(e.currentTarget);
        }}
      >
        <label>
          User
          <input name="user" type="text" placeholder={user.username} spellcheck={false} list="subjects" />
        </label>
        <datalist id="subjects">
          <option value="system:serviceaccount:default:default" />
          <option value="system:anonymous" />
        </datalist>
        <label>
          Groups
          <input name="groups" type="text" placeholder="with commas" spellcheck={false} />
        </label>
        <label>
          Namespace
          <input name="namespace" type="text" placeholder="all" spellcheck={false} />
        </label>
        <button type="submit" class="primary">
          Show
        </button>
      </form>
      <p class="hint">
        {question.user ? question.user : `${user.username} (signed in)`} in {question.namespace ? `the namespace ${question.namespace}` : "all namespaces"}
        {question.groups.length > 0 && `, as a member of ${question.groups.join(", ")}`}
      </p>
      <Matrix question={question} />
    </>
  );
}

function Matrix({ question }: { question: Question }) {
  const { client, resources } = useSession();
  const [answers, setAnswers] = useState(new Map<string, Answer>());
  const [error, setError] = useState<unknown>();
  const kinds = useMemo(() => [...resources].sort((a, b) => a.group.localeCompare(b.group) || a.resource.localeCompare(b.resource)), [resources]);
  useEffect(() => {
    const ended = new AbortController();
    setAnswers(new Map());
    setError(undefined);
    const found = new Map<string, Answer>();
    const cells = kinds.flatMap((r) => verbs.filter((verb) => r.verbs.includes(verb)).map((verb) => [r, verb] as const));
    const next = cells.values();
    const work = async () => {
      for (const [r, verb] of next) found.set(cell(r, verb), await review(client, question, r, verb, ended.signal));
    };
    const shown = setInterval(() => setAnswers(new Map(found)), 250);
    Promise.all([work(), work(), work(), work()])
      .catch((e) => ended.signal.aborted || setError(e))
      .finally(() => {
        clearInterval(shown);
        if (!ended.signal.aborted) setAnswers(new Map(found));
      });
    return () => {
      ended.abort();
      clearInterval(shown);
    };
  }, [client, kinds, question]);
  if (error) return <Problem error={error} />;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Kinds and verbs">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">Kind</th>
            {verbs.map((verb) => (
              <th key={verb} scope="col">
                {verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kinds.map((r) => (
            <tr key={cell(r, "")}>
              <th scope="row">{r.resource + (r.group ? "." + r.group : "")}</th>
              {verbs.map((verb) => {
                const answer = answers.get(cell(r, verb));
                if (!r.verbs.includes(verb)) return <td key={verb} />;
                return (
                  <td key={verb} class={answer ?? "open"}>
                    {answer ?? "…"}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const cell = (r: Resource, verb: string) => `${r.group}/${r.resource}/${verb}`;

async function review(client: ReturnType<typeof useSession>["client"], q: Question, r: Resource, verb: string, signal: AbortSignal): Promise<Answer> {
  const version = client.config.groups.authorization + "/v1";
  const kind = q.user ? "SubjectAccessReview" : "SelfSubjectAccessReview";
  const resourceAttributes = { group: r.group, version: r.version, resource: r.resource, verb, namespace: r.namespaced ? q.namespace : "" };
  const subject = q.user ? { user: q.user, groups: q.groups } : {};
  const answer = await client.post<any>(`/apis/${version}/${kind.toLowerCase()}s`, { apiVersion: version, kind, spec: { resourceAttributes, ...subject } }, signal);
  if (answer.status.allowed) return "yes";
  return answer.status.evaluationError && !answer.status.denied ? "unknown" : "no";
}
