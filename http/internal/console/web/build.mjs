// Builds ../dist from src/, and notes in ../dist/sources.sha256 which sources that were.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const dist = "../dist";
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: dist,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(join("src", name), join(dist, name));

// What is bundled keeps the terms under which it may be.
const bundled = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies);
const terms = [...bundled, "@dagrejs/graphlib"].map((name) => {
  const folder = join("node_modules", name);
  const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
  return `${name} ${JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(join(dist, "licenses.txt"), terms.join("\n---\n\n"));

// The same digest is computed by the Go test that holds dist/ against the sources.
const files = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json", ...readdirSync("src").sort().map((name) => "src/" + name)];
const digest = createHash("sha256");
for (const name of files) digest.update(createHash("sha256").update(readFileSync(name)).digest("hex") + "  " + name + "\n");
writeFileSync(join(dist, "sources.sha256"), digest.digest("hex") + "\n");
