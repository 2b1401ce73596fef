import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { healthRoutes } from "../../src/api/metrics/routes.ts";
import { readSettings } from "../../src/api/settings.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { parseLine } from "../../src/cli/shell/parse.ts";

import { readRoot } from "../docs/markdown.ts";
import { serverBench } from "../fixtures/server.ts";
import { last, pairs } from "./dockerfile.ts";
import {
  at,
  documents,
  drainSeconds,
  type Fields,
  fields,
  list,
  namesIn,
  runtimeStage,
  variables,
} from "./files.ts";

const FOLDER = "deploy/kubernetes";
const EXAMPLE = "secret.example.yaml";
const [kustomization = {}] = documents(`${FOLDER}/kustomization.yaml`);
const resources = list(kustomization, "resources").map(String);
const manifests = resources.flatMap((file) => documents(`${FOLDER}/${file}`));
const [secret = {}] = documents(`${FOLDER}/${EXAMPLE}`);

const ofKind = (kind: string): readonly Fields[] => manifests.filter((one) => one["kind"] === kind);
const deployments = ofKind("Deployment");
const podOf = (deployment: Fields): Fields => fields(deployment, "spec", "template", "spec");
const containerOf = (deployment: Fields): Fields => fields(podOf(deployment), "containers", 0);
const labelsOf = (deployment: Fields): Fields => fields(deployment, "spec", "template", "metadata", "labels");
const nameOf = (manifest: Fields): string => String(at(manifest, "metadata", "name"));
const isServer = (deployment: Fields): boolean => nameOf(deployment) === "holdpoint-server";
const server = deployments.find(isServer) ?? {};
const image = pairs(runtimeStage(), "ENV");

const selects = (selector: Fields, labels: Fields): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
const selectedBy = (selector: Fields): readonly string[] =>
  deployments.filter((one) => selects(selector, labelsOf(one))).map(nameOf);

type Variable = { readonly name: string; readonly value?: string; readonly valueFrom?: Fields };
const envOf = (deployment: Fields) => list(containerOf(deployment), "env") as readonly Variable[];
const settingOf = (deployment: Fields, name: string): string | undefined =>
  envOf(deployment).find((one) => one.name === name)?.value;

/** What stands in files that the Secret is mounted as: a folder of its items, by their paths. */
function mounted(deployment: Fields): ReadonlyMap<string, string> {
  const files = (list(containerOf(deployment), "volumeMounts") as readonly Fields[]).flatMap((mount) => {
    const volume = list(podOf(deployment), "volumes").find((one) => at(one, "name") === mount["name"]);
    const items = list(volume, "secret", "items") as readonly { key: string; path: string }[];
    return mount["subPath"] === undefined
      ? items.map(({ key, path }) => [`${mount["mountPath"]}/${path}`, key] as const)
      : [];
  });
  return new Map(files.map(([file, key]) => [file, String(at(secret, "stringData", key))]));
}

describe("the manifests", () => {
  test("are all in the kustomization, but the Secret's example", () => {
    const files = namesIn(FOLDER).filter((file) => ![EXAMPLE, "kustomization.yaml"].includes(file));
    assert.deepEqual([...resources].sort(), files);
  });

  test("have kinds in versions of the API that serve them", () => {
    const kinds: Readonly<Record<string, string>> = {
      Namespace: "v1",
      Service: "v1",
      Secret: "v1",
      Deployment: "apps/v1",
      PodDisruptionBudget: "policy/v1",
      NetworkPolicy: "networking.k8s.io/v1",
    };
    for (const one of [...manifests, secret])
      assert.equal(one["apiVersion"], kinds[String(one["kind"])], nameOf(one));
    const names = manifests.map((one) => `${one["kind"]} ${nameOf(one)}`);
    assert.equal(new Set(names).size, names.length);
    assert.equal(nameOf(ofKind("Namespace")[0] ?? {}), kustomization["namespace"]);
    assert.equal(at(secret, "metadata", "namespace"), kustomization["namespace"]);
  });

  test("run three servers and three workers, and replace them without one being missing", () => {
    assert.deepEqual(deployments.map(nameOf), ["holdpoint-server", "holdpoint-worker"]);
    for (const one of deployments) {
      assert.equal(at(one, "spec", "replicas"), 3);
      assert.deepEqual(at(one, "spec", "strategy"), {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
      });
    }
  });

  test("select the pods that they are about, and no others", () => {
    for (const one of deployments) {
      const own = [nameOf(one)];
      assert.deepEqual(selectedBy(fields(one, "spec", "selector", "matchLabels")), own);
      const spread = list(podOf(one), "topologySpreadConstraints");
      assert.deepEqual(
        spread.map((constraint) => at(constraint, "topologyKey")),
        ["kubernetes.io/hostname", "topology.kubernetes.io/zone"],
      );
      for (const constraint of spread)
        assert.deepEqual(selectedBy(fields(constraint, "labelSelector", "matchLabels")), own);
    }
    assert.deepEqual(selectedBy(fields(ofKind("Service")[0], "spec", "selector")), ["holdpoint-server"]);
    for (const budget of ofKind("PodDisruptionBudget")) {
      assert.deepEqual(selectedBy(fields(budget, "spec", "selector", "matchLabels")), [nameOf(budget)]);
      assert.equal(at(budget, "spec", "maxUnavailable"), 1);
    }
    assert.equal(ofKind("PodDisruptionBudget").length, deployments.length);
  });

  test("name ports that the containers have, and the server listens on its own", () => {
    const portsOf = (deployment: Fields) =>
      list(containerOf(deployment), "ports") as { name: string; containerPort: number }[];
    assert.deepEqual(portsOf(server), [{ name: "http", containerPort: Number(image["HOLDPOINT_PORT"]) }]);
    assert.equal(at(ofKind("Service")[0], "spec", "ports", 0, "targetPort"), "http");
    for (const one of deployments)
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
        assert.equal(at(containerOf(one), probe, "httpGet", "port"), portsOf(one)[0]?.name);
    for (const policy of ofKind("NetworkPolicy"))
      for (const rule of list(policy, "spec", "ingress"))
        for (const { port } of list(rule, "ports") as { port: unknown }[]) {
          const chosen = selectedBy(fields(policy, "spec", "podSelector", "matchLabels"));
          const has = deployments.filter((one) => portsOf(one).some(({ name }) => name === port)).map(nameOf);
          assert.deepEqual(chosen, has, nameOf(policy));
        }
  });

  test("let nothing in or out that no policy names, and the database's port out", () => {
    const [nothing, ...others] = ofKind("NetworkPolicy");
    assert.deepEqual(nothing?.["spec"], { podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    const outward = others.find((one) => nameOf(one) === "outward") ?? {};
    assert.deepEqual(
      selectedBy(fields(outward, "spec", "podSelector", "matchLabels")),
      deployments.map(nameOf),
    );
    const ports = list(outward, "spec", "egress").flatMap((rule) =>
      list(rule, "ports").map((port) => at(port, "port")),
    );
    const { port } = new URL(String(at(secret, "stringData", "database")));
    assert.ok(ports.includes(Number(port)));
    for (const mail of [465, 587]) assert.ok(ports.includes(mail), `mail on ${mail}`);
  });

  test("give a pod a quarter of an hour to start: the first one of a new version may have to migrate", () => {
    for (const one of deployments) {
      const probe = fields(containerOf(one), "startupProbe");
      assert.ok(Number(probe["periodSeconds"]) * Number(probe["failureThreshold"]) >= 900, nameOf(one));
    }
  });

  test("start the server with a line that the command line knows", () => {
    const line = parseLine(list(containerOf(server), "args").map(String), COMMANDS);
    assert.equal(line.kind === "run" && line.command.name, "serve");
    for (const one of deployments)
      assert.equal(at(containerOf(one), "command"), undefined, "the image's own");
  });

  test("set only variables that exist, to values that the server takes", () => {
    for (const one of deployments)
      assert.deepEqual(
        envOf(one).filter(({ name }) => !variables().has(name)),
        [],
      );
    const env = new Map(envOf(server).map(({ name, value }) => [name, value]));
    const settings = readSettings({
      flags: new Map(),
      environment: (name) => env.get(name) ?? image[name],
      readText: (file) => mounted(server).get(file) ?? assert.fail(`${file} is not mounted`),
    });
    assert.equal(settings.noAuth, false);
    assert.match(settings.database ?? "", /^postgres:.*sslmode=verify-full$/);
    const service = nameOf(ofKind("Service")[0] ?? {});
    const inside = `${service}.${kustomization["namespace"]}.svc`;
    for (const name of [service, inside, `${inside}.cluster.local`])
      assert.ok(settings.allowHost.includes(name), name);
    const { host } = new URL(env.get("HOLDPOINT_PUBLIC_URL") ?? "");
    assert.ok(settings.allowHost.includes(host));
  });

  test("read the database's address from the Secret's file, and put it into no variable", () => {
    for (const one of deployments) {
      assert.match(mounted(one).get(settingOf(one, "HOLDPOINT_DATABASE_FILE") ?? "") ?? "", /^postgres:/);
      assert.deepEqual(
        envOf(one).filter(({ valueFrom }) => valueFrom !== undefined),
        [],
      );
    }
  });

  test("keep the Service's own variables out of the pods: they would be read as settings", () => {
    const told = `${nameOf(ofKind("Service")[0] ?? {}).toUpperCase()}_PORT`;
    assert.ok(variables().has(told));
    for (const one of deployments) assert.equal(at(podOf(one), "enableServiceLinks"), false);
  });

  test("leave a node longer to stop than it takes", () => {
    for (const one of deployments) {
      const before = Number(at(containerOf(one), "lifecycle", "preStop", "sleep", "seconds") ?? 0);
      const [grace, effects] = ["GRACE", "DRAIN"].map((name) => settingOf(one, `HOLDPOINT_${name}_SECONDS`));
      const drain = before + drainSeconds(grace, effects);
      assert.ok(drain >= 30 && Number(at(podOf(one), "terminationGracePeriodSeconds")) >= drain + 10);
    }
    assert.ok(Number(at(containerOf(server), "lifecycle", "preStop", "sleep", "seconds")) > 0);
  });

  test("give containers no right that they do not need", () => {
    const [user, group] = last(runtimeStage(), "USER").text.split(":").map(Number);
    for (const one of deployments) {
      assert.equal(list(podOf(one), "containers").length, 1);
      assert.equal(at(podOf(one), "automountServiceAccountToken"), false);
      const { runAsNonRoot, runAsUser, runAsGroup, fsGroup, seccompProfile } = fields(
        podOf(one),
        "securityContext",
      );
      assert.deepEqual([runAsNonRoot, runAsUser, runAsGroup, fsGroup], [true, user, group, group]);
      assert.deepEqual(seccompProfile, { type: "RuntimeDefault" });
      assert.deepEqual(at(containerOf(one), "securityContext"), {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      for (const kind of ["requests", "limits"]) assert.ok(at(containerOf(one), "resources", kind, "memory"));
    }
    const labels = fields(ofKind("Namespace")[0], "metadata", "labels");
    assert.equal(labels["pod-security.kubernetes.io/enforce"], "restricted");
  });

  test("mount the one key where the image looks for it, with room for notes beside it", () => {
    const [, folder = ""] = /^(.+)\/key\.json$/.exec(image["HOLDPOINT_KEY_FILE"] ?? "") ?? [];
    for (const one of deployments) {
      const volumes = new Map(
        (list(podOf(one), "volumes") as Fields[]).map((volume) => [volume["name"], volume]),
      );
      const mounts = list(containerOf(one), "volumeMounts") as Fields[];
      for (const mount of mounts) assert.ok(volumes.has(mount["name"]));
      const mountAt = (place: string) =>
        volumes.get(mounts.find((mount) => mount["mountPath"] === place)?.["name"]);
      assert.ok(at(mountAt(folder), "emptyDir"));
      const file = mountAt(`${folder}/key.json`);
      assert.equal(at(file, "secret", "secretName"), nameOf(secret));
      assert.equal(at(file, "secret", "defaultMode"), 0o440);
      assert.deepEqual(at(file, "secret", "items"), [{ key: "key.json", path: "key.json" }]);
    }
  });

  test("take the image in the version of the package", () => {
    const { version } = JSON.parse(readRoot("package.json")) as { readonly version: string };
    assert.equal(at(kustomization, "images", 0, "newTag"), version);
    for (const one of deployments)
      assert.equal(containerOf(one)["image"], at(kustomization, "images", 0, "name"));
  });
});

describe("secrets of the manifests", () => {
  test("come from the Secret, which has every key that is asked for and holds placeholders only", () => {
    const kept = fields(secret, "stringData");
    const asked = deployments.flatMap((one) =>
      list(podOf(one), "volumes").flatMap((volume) => at(volume, "secret") ?? []),
    );
    assert.equal(asked.length, 2 * deployments.length);
    for (const from of asked) {
      assert.equal(at(from, "secretName"), nameOf(secret));
      for (const item of list(from, "items")) assert.ok(String(at(item, "key")) in kept);
    }
    assert.equal(kept["key.json"], "REPLACE-ME");
    assert.equal(new URL(String(kept["database"])).password, "REPLACE-ME");
  });

  test("stand nowhere in clear", () => {
    for (const file of resources)
      assert.doesNotMatch(readRoot(`${FOLDER}/${file}`), /:\/\/[^/\s:@]+:[^/\s@]+@|PRIVATE KEY|hpk_/);
    const named = deployments
      .flatMap(envOf)
      .filter(({ name, value }) => /DATABASE$|PASSWORD|SECRET|SMTP|API_KEY/.test(name) && value);
    assert.deepEqual(named, []);
  });
});

const probed = (probe: string) => String(at(containerOf(server), probe, "httpGet", "path"));

test("the server's probes ask routes that answer 200 without a credential", async (t) => {
  const { ask } = await serverBench(t, { noAuth: false });
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
    assert.equal((await ask(probed(probe))).status, 200, probe);
});

test("a database that is away makes a server unready, and is no reason to kill it", async () => {
  const away = () => Promise.reject(new Error("away"));
  const routes = healthRoutes({ version: "9.9.9", ready: away });
  const handle = (path: string) =>
    routes.find((route) => route.path === path)?.handle as () => Promise<unknown>;
  assert.equal(at(await handle(probed("livenessProbe"))(), "status"), 200);
  await assert.rejects(handle(probed("readinessProbe"))(), { code: "store_unavailable" });
});
