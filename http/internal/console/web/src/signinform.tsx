import { useState } from "preact/hooks";
import type { Config } from "./api";
import { Failure } from "./api";
import { Problem } from "./problem";
import { beginSignIn } from "./signin";

export function SignIn({ provider, error, onToken }: { provider: Config["signIn"]; error: unknown; onToken: (token: string) => Promise<void> }) {
  const [token, setToken] = useState("");
  const [failed, setFailed] = useState<unknown>();
  const shown = failed ?? error;
  return (
    <main class="signin">
      <h1>Sign in to Troupe</h1>
      {shown ? shown instanceof Failure && shown.code === 401 ? <p class="problem" role="alert">The server rejected this token.</p> : <Problem error={shown} /> : null}
      {provider && (
        <p>
          <button class="primary" onClick={() => beginSignIn(provider).catch(setFailed)}>
            Sign in with {new URL(provider.authorizationEndpoint).host}
          </button>
        </p>
      )}
      <form
        onSubmit={(e) => {
          e.preventDefault();
          onToken(token.trim());
        }}
      >
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} required value={token} onInput={(e) => setToken(e.currentTarget.value)} />
        <button type="submit">Sign in</button>
      </form>
      <section class="hint">
        <h2>Get a token</h2>
        <p>Create a service account, grant it a role, and create a token for it:</p>
        <pre>{`kubectl create serviceaccount console
kubectl create clusterrolebinding console \\
  --clusterrole=cluster-admin \\
  --serviceaccount=default:console
kubectl create token console`}</pre>
        <p>
          With <code>--clusterrole=view</code> the token reads most objects, but no Secrets. The overview also needs the role{" "}
          <code>system:monitoring</code>, which allows <code>/metrics</code>.
        </p>
        <p>The token stays in this tab. With a client certificate in the browser, no token is needed.</p>
      </section>
    </main>
  );
}
