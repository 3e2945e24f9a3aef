import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Access } from "./access";
import { Client, type Config, Failure, type Resource } from "./api";
import { Definitions } from "./definitions";
import { ObjectPage } from "./object";
import { Objects } from "./objects";
import { Overview } from "./overview";
import { type Route, useRoute } from "./route";
import { Session } from "./session";
import { Problem } from "./problem";
import { SignIn } from "./signinform";
import { finishSignIn } from "./signin";
import "./style.css";

const areas = [
  ["overview", "Overview"],
  ["objects", "Objects"],
  ["definitions", "Definitions"],
  ["access", "Access"],
] as const;

interface User {
  username: string;
  groups: string[];
}

// App asks who is there, by token or by a certificate of the browser, and shows either the pages or how to sign in.
function App() {
  const [client, setClient] = useState<Client>();
  const [user, setUser] = useState<User | null>();
  const [error, setError] = useState<unknown>();
  const authenticate = async (c: Client) => {
    try {
      const u = await c.user();
      setUser(u.groups.includes("system:unauthenticated") ? null : u);
    } catch (e) {
      // Without a token it was a question whether the browser has a certificate.
      if (c.token || !(e instanceof Failure)) setError(e);
      c.token = "";
      setUser(null);
    }
  };
  useEffect(() => {
    (async () => {
      const config: Config = await (await fetch("/console/config.json")).json();
      const c = new Client(config);
      setClient(c);
      try {
        const token = await finishSignIn(config.signIn);
        if (token) c.token = token;
      } catch (e) {
        setError(e);
      }
      await authenticate(c);
    })().catch(setError);
  }, []);
  if (!client) return error ? <Problem error={error} /> : <p class="loading">Loading …</p>;
  if (user === undefined) return <p class="loading">Loading …</p>;
  if (user === null)
    return (
      <SignIn
        provider={client.config.signIn}
        error={error}
        onToken={async (token) => {
          setError(undefined);
          client.token = token;
          await authenticate(client);
        }}
      />
    );
  const signOut = () => {
    client.signOut();
    location.assign("/console/");
  };
  return <Pages client={client} user={user} signOut={signOut} />;
}

function Pages({ client, user, signOut }: { client: Client; user: User; signOut: () => void }) {
  const [resources, setResources] = useState<Resource[]>();
  const [error, setError] = useState<unknown>();
  const route = useRoute();
  useEffect(() => {
    // Definitions may have come or gone. What is shown stays as long as they have not, with what somebody edits.
    const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
    client.resources().then((now) => setResources((before) => (same(before, now) ? before : now)), setError);
  }, [client, route.area]);
  const title = areas.find(([area]) => area === route.area)?.[1] ?? "";
  useEffect(() => {
    document.title = [route.name || route.resource || title, "Troupe"].filter(Boolean).join(" · ");
  }, [route, title]);
  return (
    <Session.Provider value={{ client, user, resources: resources ?? [] }}>
      <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to content
      </a>
      <header>
        <strong class="brand">Troupe</strong>
        <nav aria-label="Pages">
          {areas.map(([area, text]) => (
            <a key={area} href={"#/" + area} aria-current={route.area === area ? "page" : undefined}>
              {text}
            </a>
          ))}
        </nav>
        <span class="user" title={user.groups.join("\n")}>
          {user.username}
        </span>
        {client.token && <button onClick={signOut}>Sign out</button>}
      </header>
      <main id="main" tabIndex={-1}>
        {error ? <Problem error={error} /> : null}
        {resources && <Area route={route} />}
      </main>
    </Session.Provider>
  );
}

function Area({ route }: { route: Route }) {
  switch (route.area) {
    case "objects":
      return route.name ? <ObjectPage key={Object.values(route).join("/")} route={route} /> : <Objects route={route} />;
    case "definitions":
      return <Definitions />;
    case "access":
      return <Access />;
    default:
      return <Overview />;
  }
}

render(<App />, document.getElementById("app")!);
