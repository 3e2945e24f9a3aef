package daemon

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

const example = "../troupe.example.yaml"

func TestReadIsStrict(t *testing.T) {
	tests := []struct{ text, fault string }{
		{"", ""},
		{"# nothing\n", ""},
		{"naming: platform\nserving: {securePort: 0}", ""},
		{"namings: platform", `unknown key "namings"`},
		{"Naming: platform", `unknown key "Naming"`},
		{"serving: {port: 1}", `unknown key "serving.port"`},
		{"a: 1\nserving: {b: 1}", `unknown key "serving.b"`},
		{"a: 1\nserving: {b: 1}", `unknown key "a"`},
		{"naming: platform\nnaming: platform", "naming"},
		{"serving: 1", "settings.serving: must be a map"},
		{"serving:", "serving: has no value"},
		{"- a", "settings: must be a map"},
		{"serving: {securePort: x}", `serving.securePort: "x" is no whole number`},
		{"serving: {profiling: 1}", "serving.profiling: 1 is neither true nor false"},
		{"naming: [a]", `naming: ["a"] is no text`},
		{"authorization: {modes: RBAC}", `authorization.modes: "RBAC" is no list of texts`},
		{"serving: {requestTimeout: 60}", "serving.requestTimeout: 60 is no duration"},
		{"serving: {requestTimeout: 1 hour, securePort: x}", `serving.requestTimeout: "1 hour" is no duration`},
		{"serving: {requestTimeout: 1 hour, securePort: x}", `serving.securePort: "x" is no whole number`},
		{"journal: {segmentBytes: 64MB}", `journal.segmentBytes: "64MB" is no number of bytes`},
		{"journal: {segmentBytes: -1}", "no number of bytes"},
		{"journal: {segmentBytes: 9999999999Gi}", "no number of bytes"},
		{"a: [", "yaml"},
	}
	for _, test := range tests {
		c := Default()
		err := c.Read([]byte(test.text))
		switch {
		case test.fault == "":
			if err != nil {
				t.Errorf("%q: %v", test.text, err)
			}
		case err == nil || !strings.Contains(err.Error(), test.fault):
			t.Errorf("%q: got error %v, want one with %q", test.text, err, test.fault)
		}
	}
}

func TestReadKeepsWhatItDoesNotName(t *testing.T) {
	c := Default()
	if err := c.Read([]byte("serving: {requestTimeout: 5s}\njournal: {segmentBytes: 2Mi}\nwatches: {historyBytes: 7}")); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Serving.RequestTimeout = Duration(5 * time.Second)
	want.Journal.SegmentBytes = 2 << 20
	want.Watches.HistoryBytes = 7
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

// The example names every key and holds the defaults.
func TestExampleIsComplete(t *testing.T) {
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{}
	if err := c.Read(data); err != nil {
		t.Fatal(err)
	}
	// As text, in which a list that is empty and one that is not there are the same.
	if have, want := fmt.Sprintf("%+v", c), fmt.Sprintf("%+v", Default()); have != want {
		t.Errorf("the example holds\n%s, the defaults are\n%s", have, want)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	if missing := missingKeys("", tree, reflect.TypeFor[Config]()); len(missing) > 0 {
		t.Errorf("the example lacks %v", missing)
	}
}

func TestDocumentationNamesEveryKeyAndFlag(t *testing.T) {
	data, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	names := missingKeys("", map[string]any{}, reflect.TypeFor[Config]())
	c := Default()
	for _, g := range c.Flags() {
		g.Flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	}
	for _, name := range names {
		if !strings.Contains(string(data), "`"+name+"`") {
			t.Errorf("docs/configuration.md does not explain `%s`", name)
		}
	}
}

// missingKeys are the paths of the keys of type t, leaves only, that tree lacks.
func missingKeys(path string, tree map[string]any, t reflect.Type) (missing []string) {
	for field := range t.Fields() {
		key := field.Tag.Get("json")
		if key == "-" {
			continue
		}
		value, ok := tree[key]
		if field.Type.Kind() == reflect.Struct {
			below, _ := value.(map[string]any)
			missing = append(missing, missingKeys(path+key+".", below, field.Type)...)
		} else if !ok {
			missing = append(missing, path+key)
		}
	}
	return missing
}

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	err := Config{Logging: Logging{Verbosity: -1}, Encryption: Encryption{AutomaticReload: true}, TLS: TLS{CertFile: "x"}, Admission: Admission{Enable: []string{"x"}, Disable: []string{"x"}, Control: []string{"x"}, ServiceResolver: []string{"x"}}, Aggregation: Aggregation{ProxyClientCertFile: "x", ServiceResolver: []string{"x"}}}.Validate()
	if err == nil {
		t.Fatal("an empty config is valid")
	}
	var keys []string
	for line := range strings.Lines(err.Error()) {
		key, _, _ := strings.Cut(line, ": ")
		keys = append(keys, key)
	}
	// 0 is a valid port, delay, back-off, life and number of restarts; switches have no faults.
	want := missingKeys("", map[string]any{}, reflect.TypeFor[Config]())
	want = slices.DeleteFunc(want, func(key string) bool {
		return strings.HasPrefix(key, "serviceAccounts.") && key != "serviceAccounts.legacyTokenCleanUpPeriod" || strings.HasPrefix(key, "bootstrapTokens.") || strings.HasPrefix(key, "certificateSigning.") && key != "certificateSigning.duration" || slices.Contains([]string{"serving.securePort", "serving.shutdownDelay", "actors.maxRestarts", "actors.restartBackoff",
			"tls.privateKeyFile", "tls.certDir", "tls.sniCertKeys", "tls.cipherSuites", "tls.strictTransportSecurity", "serving.corsAllowedOrigins", "authentication.clientCAFile", "authentication.tokenAuthFile", "authentication.anonymous",
			"authentication.anonymousPaths", "authentication.requestHeader.clientCAFile", "authentication.requestHeader.allowedNames",
			"authentication.requestHeader.usernameHeaders", "authentication.requestHeader.uidHeaders", "authentication.requestHeader.groupHeaders",
			"authentication.requestHeader.extraHeadersPrefix", "authentication.oidc.issuerURL", "authentication.oidc.clientID", "authentication.oidc.caFile",
			"authentication.oidc.usernamePrefix", "authentication.oidc.groupsClaim", "authentication.oidc.groupsPrefix", "authentication.oidc.requiredClaims", "authentication.oidc.systemNames",
			"authentication.webhook.configFile", "authentication.webhook.cacheTTL",
			"ephemeral", "kubeconfig",
			"acceptDataLoss", "etcd.servers", "etcd.caFile", "etcd.certFile", "etcd.keyFile", "etcd.prefix", "etcd.compactionInterval", "etcd.localCopy", "kubelets.clientCertFile", "kubelets.clientKeyFile", "kubelets.certificateAuthority", "serving.profiling", "serving.console", "serving.enablePriorityAndFairness", "serving.advertiseAddress", "serving.maxConnections", "serving.maxConnectionsPerAddress", "serving.disableHTTP2", "serving.http2MaxStreams",
			"audit.policyFile", "audit.log.path", "audit.log.version", "audit.log.maxAge", "audit.log.maxBackups", "audit.log.maxSize", "audit.log.compress",
			"audit.webhook.configFile", "audit.webhook.version", "audit.webhook.initialBackoff",
			"authorization.alwaysAllowPaths", "authorization.policyFile", "authorization.webhook.configFile",
			"authorization.webhook.cacheAuthorizedTTL", "authorization.webhook.cacheUnauthorizedTTL",
			"encryption.configFile", "journal.archiveBytes",
			"namespaces.deletionGracePeriod", "api.featureGates", "api.runtimeConfig", "api.eventTTL",
			"nodes.allocateCIDRs", "nodes.clusterCIDR", "nodes.cidrMaskSize", "nodes.cidrMaskSizeIPv4", "nodes.cidrMaskSizeIPv6", "nodes.terminatedPodThreshold",
			"autoscaling.downscaleStabilization", "autoscaling.tolerance", "autoscaling.cpuInitializationPeriod", "autoscaling.initialReadinessDelay",
			"aggregation.proxyClientKeyFile", "aggregation.endpointRouting", "aggregation.rejectForwardingRedirects",
			"admission.configFile", "admission.defaultNotReadyTolerationSeconds", "admission.defaultUnreachableTolerationSeconds"}, key)
	})
	for _, backend := range []string{"audit.log.", "audit.webhook."} {
		for _, key := range []string{"batch.maxWait", "batch.throttleEnable", "batch.throttleQPS", "batch.throttleBurst", "truncate.enabled", "truncate.maxEventSize"} {
			want = slices.DeleteFunc(want, func(k string) bool { return k == backend+key })
		}
	}
	if keys = slices.Compact(keys); !slices.Equal(keys, want) {
		t.Errorf("faults of\n%v, want\n%v", keys, want)
	}
}

func TestFlagsOverrideTheFile(t *testing.T) {
	flags := Default()
	given := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, g := range flags.Flags() {
		given.AddFlagSet(g.Flags)
	}
	if err := given.Parse([]string{"--secure-port", "1", "--request-timeout=9s", "-v", "3", "--anonymous-auth=false", "--naming=platform",
		"--disable-admission-plugins=CertificateSigning,TaintNodesByCondition", "--disable-admission-plugins=CertificateApproval"}); err != nil {
		t.Fatal(err)
	}
	c := Default()
	if err := c.Read([]byte("naming: other\nserving: {securePort: 2, requestTimeout: 8s, bindAddress: 10.0.0.1}\nauthentication: {anonymous: true}\nadmission: {disable: [StorageObjectInUseProtection]}")); err != nil {
		t.Fatal(err)
	}
	if err := c.Override(given); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Serving.SecurePort = 1
	want.Serving.RequestTimeout = Duration(9 * time.Second)
	want.Serving.BindAddress = "10.0.0.1"
	want.Authentication.Anonymous = false
	want.Admission.Disable = []string{"CertificateSigning", "TaintNodesByCondition", "CertificateApproval"}
	want.Logging.Verbosity = 3
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}
