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
      {shown ? shown instanceof Failure && shown.code === 401 ? <p class="problem" role="alert">The server does not accept this token.</p> : <Problem error={shown} /> : null}
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
      <p class="hint">
        A token of a service account serves well, as that of <code>kubectl create token NAME</code>. It stays in this tab and is gone when the tab is
        closed. A client certificate that the browser has is taken without a token.
      </p>
    </main>
  );
}
