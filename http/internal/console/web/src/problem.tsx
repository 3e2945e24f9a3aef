import { Failure } from "./api";

// Problem shows what went wrong, in the words of the server where it has said something.
export function Problem({ error }: { error: unknown }) {
  const causes = error instanceof Failure ? error.causes : [];
  const hint =
    error instanceof Failure && error.code === 403
      ? "The signed-in user lacks this permission. The page Access shows all permissions."
      : error instanceof TypeError
        ? "The server cannot be reached."
        : "";
  return (
    <div class="problem" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {causes.length > 1 && (
        <ul>
          {causes.map((c) => (
            <li>
              {c.field && <code>{c.field}</code>} {c.message}
            </li>
          ))}
        </ul>
      )}
      {hint && <p>{hint}</p>}
    </div>
  );
}
