// Package policy tests authentication, authorization, admission, certificates, and attacks on them.
//
// Each topic below has its own file name prefix.
//
// # Auth
//
// These tests check how a running daemon authenticates clients and authorizes their requests:
// authenticators, authorization modes, impersonation, access reviews, tokens, audit and TLS.
// Providers, webhooks and proxies are real servers in the test process.
//
// # Certificates
//
// These tests cover the creation, approval, signing and deletion of CertificateSigningRequests,
// PodCertificateRequests, and the publication of the server's own CA certificates.
//
// # Credentials
//
// These tests run clients that get credentials from exec plugins and an OpenID Connect provider.
// The plugin is the test binary itself, which records its input and prints a prepared output.
//
// # FlowControl
//
// These tests check API priority and fairness over HTTP: objects and their maintenance,
// classification, rejections, metrics and dumps. Package policy/flowcontrol has more tests.
//
// # Plugins
//
// These tests check the admission plugins for objects other than Pods, in both naming profiles if
// names differ.
//
// # PodPlugins
//
// These tests check the admission plugins for Pods: rejections, and defaults from service accounts,
// classes, namespaces and nodes. Every case contains the name of its plugin.
//
// # PodSecurity
//
// These tests compare policy/admission/podsecurity with k8s.io/pod-security-admission. They use
// random Pods, the published fixtures at each level and version, and random writes. The published
// test suite also runs against the daemon over HTTP.
//
// # Policies
//
// These tests check admission policies over HTTP, in both naming profiles.
//
// # Security
//
// These tests attack a running daemon over TLS, mostly with hand-written bytes, and check its
// responses. Each test covers one attack. Timing side channels are not covered.
//
//	attack                                                    test
//	smuggling: two body lengths, folds, control bytes, Host   TestSmuggling
//	trailers that repeat identity and proxy headers           TestTrailers
//	repeated identity headers in different orders             TestOrderOfHeaders
//	paths with dots, double slashes, escapes, other case      TestTargets
//	bodies: large, deep, YAML aliases, JSON patch copies      TestBombs
//	values that can be stored but not decoded                 TestPoison
//	stored objects that cannot be decoded                     TestQuarantine
//	hostile values for every field of every kind and format   TestHostileObjects
//	small requests with large results: defaults, errors       TestSizes
//	many concurrent large writes                              TestLargeBatch
//	lists of tens of thousands of items                       TestLongLists
//	continue tokens of another type or namespace              TestContinueTokens
//	empty, wrong and repeated bearer tokens                   TestBearerTokens
//	identity headers without the proxy's certificate          TestForgedProxyHeaders
//	impersonation without permission or without a user        TestSecurityImpersonation
//	identity tokens: alg, keys, issuer, audience, times       TestForgedIdentityTokens
//	service account tokens: the same, and bound objects       TestForgedAccountTokens
//	service account tokens of deleted or recreated objects    TestRevokedAccountTokens
//	certificates: time, CA, use, name                         TestClientCertificates
//	privilege escalation by roles and bindings                TestSecurityEscalation
//	resourceNames in rules for requests without a name        TestResourceNames
//	creating with only permission to update or patch          TestCreation
//	certificate requests for system:masters, nodes, others    TestCertificateRequests
//	approving and signing without permission for the signer   TestCertificateApproval
//	CA bundles that were stored before they were validated    TestStoredBundles
//	CEL rules that would take gigabytes or minutes            TestCostlyExpressions
//	CRDs: too deep, too many or too long CEL rules            TestCostlyDefinitions
//	deleting namespaces and kinds with undecodable objects    TestUnreadableIsDeleted
//	CRDs that take over built-in kinds                        TestTakeoverByDefinition, TestTakeoverFromStore
//	subresources to evade authorization or validation         TestSubresources
//	token webhooks: redirects, endless and wrong responses    TestHostileTokenWebhook
//	authorization webhooks: the same                          TestHostileAuthorizationWebhook
//	watches whose authorization is revoked                    TestWatchesEnd
//	watches after a remote authorizer revokes access          TestWatchesOfRemotes
//	authorization mode AlwaysDeny                             TestAuthAlwaysDeny
//	legacy proxy and redirect paths                           TestAuthTranscripts/old-verbs
//	tokens that one authenticator rejects and others accept   TestRefusedElsewhere
//	certificates for pending or denied requests               TestAuthTranscripts/certificate-states
//	bootstrap token Secrets with invalid fields               TestOddBootstrapSecrets
//	anonymous access to the ConfigMap cluster-info            TestClusterInfo
//	tokens in volumes, by the serving key; bad key files      TestVolumeTokens, TestServingKeyVerifies, TestFaultyFiles
//	control characters and secrets in log and metrics         TestLogsAndMetrics
//	forged, unbounded and missing audit lines                 TestAuditForgery
//	the identity in audit events                              TestAuditIdentity
//	credentials and Secrets in audit events                   TestAuditSecrets
//	tokens in query parameters, in any spelling, in audit     TestAuditQueries
//	bodies that grow large in audit events                    TestAuditBombs
//	object content in the error messages of patches           TestFailedPatches
//	object names that cannot be part of a path                TestUnnameable
//	slow headers without an end                               TestSlowHeaders
//	clients that do not read the response                     TestSlowReaders
//	the same, for large lists                                 TestStalledLists; test/storage TestStalledReaders
//	lists that fail halfway through the response              TestBrokenStream
//	many concurrent large lists in every representation       test/storage TestListMemory
//	a thousand slow clients                                   TestSlowCrowd
//	large Content-Length, with and without authentication     TestAnnouncedBodies
//	bodies that never arrive, of one user or many             TestIncompleteBodies, TestReclaimedBodies
//	large bodies of reviews, bodies without credentials       TestReviewBodies
//	a user that takes all watches, connections, responses     TestShares
//	many users that take all watches                          TestReclaimedWatches
//	cross-site requests and WebSockets from browsers          TestForeignPages
//	more connections than descriptors or than the limit       TestDescriptorsRunOut, TestSilentConnections in test/storage
//	random slow, large, many and aborted requests of a user   TestHostileUser, TestUnreadChanges
//	idle anonymous connections, many large request heads      TestNewConnsAmongAnonymous, TestLargeHeadEviction in http
//	anonymous, slow and stalled connections at once           TestManyConnections in test/storage
//	large Content-Length under a memory limit                 TestAnnouncedBodies in http
//	many unauthenticated HTTP/2 requests on many connections  TestHTTP2Crowd
//	one user whose writes take all memory                     TestMemoryShares in http
//	clients that disconnect at random moments                 TestStress in http
//	recovery that needs more memory than serving              TestRecoveryNeedsNoMoreThanServing in test/storage
//	large updates that fill the watch history                 TestHistoryIsBounded, TestOwnersOfLargeObjectsLeaveNothing in test/storage
//	requests under memory pressure                            TestScarceMemory in test/storage
//	incomplete requests during shutdown                       TestHalfSentRequests in test/storage
//
// Other packages test admission webhooks, and signers' rules for subject alternative names, the CA
// flag and usages.
package policy
