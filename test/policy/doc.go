// Package policy tests who may do what: authentication, authorization, admission, certificates, and attacks.
//
// The files of a topic begin with its name. The topics:
//
// # Auth
//
// These tests ask a running daemon who it believes its clients to be and what it lets
// them do: the ways to authenticate, the modes of authorization, impersonation, reviews,
// tokens, audit, and TLS. Each part has a file, and what it talks to (providers, webhooks,
// proxies, files that change) is real and in the same process.
//
// # Certificates
//
// These tests test the way of a certificate: who may ask, what is approved by itself, what each signer signs
// and refuses, when requests go, and where the server's own roots are published. Every daemon is a real one.
//
// # Credentials
//
// These tests run clients whose credentials come from elsewhere: from programs (plugins) and from an OpenID
// Connect provider. The plugin is the program in testdata's stead that the tests make: the test's own binary, which writes down what it
// was given and answers what it is told to.
//
// # FlowControl
//
// These tests test API priority and fairness from outside: the objects and who maintains them, how requests are
// classified, what is refused and how, and what operators see. The engine is tested in policy/flowcontrol.
//
// # Plugins
//
// These tests test the admission plugins that are not about Pods, through the real daemon and, where
// names differ, in both naming profiles.
//
// # PodPlugins
//
// These tests test the admission of Pods by a running daemon: what new Pods get of their account,
// class, namespace and node, and what they are refused for. Every case says which plugin it is about.
//
// # PodSecurity
//
// These tests compare policy/admission/podsecurity with the public implementation of Pod security
// admission: what each check says of random Pods and of its published fixtures, at each level and version, and
// what is decided on random writes of Namespaces, Pods and objects with Pod templates. The published suite runs
// against the daemon, over HTTP.
//
// # Policies
//
// These tests test admission policies through the HTTP interface of a daemon, under both naming profiles.
//
// # Security
//
// These tests attack a running daemon over TLS, mostly with hand-written bytes, and checks its
// responses. Each test covers one attack. The tests see the daemon only from outside; they do not
// measure response times, so timing side channels are not covered.
//
//	attack                                                    test
//	smuggling: two body lengths, folds, control bytes, Host   TestSmuggling
//	trailers that repeat identity and proxy headers           TestTrailers
//	repeated identity headers in different orders             TestOrderOfHeaders
//	paths with dots, double slashes, escapes, other case      TestTargets
//	bodies: large, deep, YAML aliases, JSON patch copies      TestBombs
//	values that could be stored but not be decoded again      TestPoison
//	stored objects that cannot be decoded                     TestQuarantine
//	hostile values for every field of every kind and format   TestHostileObjects
//	small requests with large results: defaults, errors       TestSizes
//	many large writes at a time                               TestLargeBatch
//	lists of tens of thousands of items                       TestLongLists
//	continue tokens of another type or namespace              TestContinueTokens
//	empty, wrong and repeated bearer tokens                   TestBearerTokens
//	identity headers without the proxy's certificate          TestForgedProxyHeaders
//	impersonation without permission or without a user        TestImpersonation
//	identity tokens: alg, keys, issuer, audience, times       TestForgedIdentityTokens
//	service account tokens: the same, and bound objects       TestForgedAccountTokens
//	service account tokens of deleted or recreated objects    TestRevokedAccountTokens
//	certificates: time, CA, use, name                         TestClientCertificates
//	privilege escalation by roles and bindings                TestEscalation
//	resourceNames in rules for requests without a name        TestResourceNames
//	creating with only the right to update or patch           TestCreation
//	certificate requests for system:masters, nodes, others    TestCertificateRequests
//	approving and signing without permission for the signer   TestCertificateApproval
//	CA bundles that were stored before they were validated    TestStoredBundles
//	CEL rules that would take gigabytes or minutes            TestCostlyExpressions
//	definitions: too deep, too many or too long CEL rules     TestCostlyDefinitions
//	deleting namespaces and kinds with undecodable objects    TestUnreadableIsDeleted
//	definitions that take over built-in kinds                 TestTakeoverByDefinition, TestTakeoverFromStore
//	sub-resources to evade authorization or validation        TestSubresources
//	token webhooks: redirects, endless and wrong responses    TestHostileTokenWebhook
//	authorization webhooks: the same                          TestHostileAuthorizationWebhook
//	watches whose authorization is revoked                    TestWatchesEnd in test/policy
//	watches whose remote authorizer revokes its decision      TestWatchesOfRemotes in test/policy
//	authorization mode AlwaysDeny                             TestAlwaysDeny in test/policy
//	legacy proxy and redirect paths                           TestAuthTranscripts/old-verbs in test/policy
//	tokens that one authenticator refused and others accept   TestRefusedElsewhere in test/policy
//	certificates on requests that are pending or denied       TestAuthTranscripts/certificate-states in test/policy
//	Secrets of bootstrap tokens with odd fields               TestOddBootstrapSecrets in test/policy
//	anonymous access to the ConfigMap cluster-info            TestClusterInfo in test/policy
//	tokens in volumes, by the serving key; bad key files      TestVolumeTokens, TestServingKeyVerifies, TestFaultyFiles in test/policy
//	control characters and secrets in log and metrics         TestLogsAndMetrics
//	forged, unbounded and missing audit lines                 TestAuditForgery
//	the identity in audit events                              TestAuditIdentity
//	credentials and Secrets in audit events                   TestAuditSecrets
//	tokens in query parameters, in any spelling, in audit     TestAuditQueries
//	bodies that grow large in audit events                    TestAuditBombs
//	object content in the error messages of patches           TestFailedPatches
//	object names that cannot be part of a path                TestUnnameable
//	headers that arrive slowly and never end                  TestSlowHeaders
//	clients that do not read the response                     TestSlowReaders
//	the same, for large lists                                 TestStalledLists; test/storage TestStalledReaders
//	lists that fail after a part was sent                     TestBrokenStream
//	many concurrent large lists in every representation       test/storage TestListMemory
//	a thousand slow clients                                   TestSlowCrowd
//	large Content-Length, without authentication              TestAnnouncedBodies
//	large bodies that arrive slowly                           TestBodyBudget
//	cross-site requests and WebSockets from browsers          TestForeignPages
//	more connections than descriptors or than the limit       TestDescriptorsRunOut, TestSilentConnections in test/storage
//	idle anonymous connections, many large request heads      TestNewConnsAmongAnonymous, TestLargeHeadEviction in http
//	anonymous, slow and stalled connections at once           TestManyConnections in test/storage
//	large Content-Length under a memory limit                 TestAnnouncedBodies in http
//	stalled clients that hold the memory for responses        TestResponseBytes in http
//	clients that disconnect at random moments                 TestStress in http
//	recovery that needs more memory than serving              TestRecoveryNeedsNoMoreThanServing in test/storage
//	large updates that fill the watch history                 TestHistoryIsBounded, TestOwnersOfLargeObjectsLeaveNothing in test/storage
//	requests under memory pressure                            TestScarceMemory in test/storage
//	incomplete requests during shutdown                       TestHalfSentRequests in test/storage
//
// The rules of the certificate signers (alternative names, CA flag, usages) and admission webhooks
// are tested in their own packages.
package policy
