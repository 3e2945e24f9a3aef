// Signing in with a provider of OpenID Connect: the authorization code flow with a proof key (RFC 7636), as a page that has no
// secret of its own. What the server takes as token is the identity token.

import type { Config } from "./api";

interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  returnTo: string;
}

const pendingKey = "sign-in";
const redirectURI = () => location.origin + "/console/";

export async function beginSignIn(provider: NonNullable<Config["signIn"]>): Promise<void> {
  const pending: Pending = { state: random(), nonce: random(), verifier: random(), returnTo: location.hash };
  sessionStorage.setItem(pendingKey, JSON.stringify(pending));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  const where = new URL(provider.authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: provider.clientID,
    redirect_uri: redirectURI(),
    scope: "openid profile email groups",
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) where.searchParams.set(name, value);
  location.assign(where);
}

// finishSignIn is the token that the provider has sent people back for; "" if they do not come from there.
export async function finishSignIn(provider: Config["signIn"]): Promise<string> {
  const answer = new URLSearchParams(location.search);
  const kept = sessionStorage.getItem(pendingKey);
  if (!kept || !answer.has("state")) return "";
  sessionStorage.removeItem(pendingKey);
  const pending: Pending = JSON.parse(kept);
  history.replaceState(null, "", "/console/" + pending.returnTo);
  if (answer.get("state") !== pending.state) throw new Error("The provider's response belongs to another sign-in. Try again.");
  const error = answer.get("error");
  if (error) throw new Error(`The provider rejected the sign-in: ${answer.get("error_description") ?? error}`);
  if (!provider) throw new Error("The server has no identity provider at the moment.");
  const response = await fetch(provider.tokenEndpoint, {
    method: "POST",
    credentials: "omit",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: answer.get("code") ?? "",
      redirect_uri: redirectURI(),
      client_id: provider.clientID,
      code_verifier: pending.verifier,
    }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(`The provider returned no token: ${body.error_description ?? body.error ?? response.status}`);
  if (typeof body.id_token !== "string" || claims(body.id_token).nonce !== pending.nonce)
    throw new Error("The provider's token does not belong to this sign-in.");
  return body.id_token;
}

// claims are read only to compare the nonce: whether a token is good is for the server to say.
function claims(token: string): Record<string, unknown> {
  const text = (token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/");
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}
