// Package security attacks a running daemon over TLS, mostly with hand-written bytes, and checks its
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
//	watches whose authorization is revoked                    TestWatchesEnd in test/auth
//	watches whose remote authorizer revokes its decision      TestWatchesOfRemotes in test/auth
//	authorization mode AlwaysDeny                             TestAlwaysDeny in test/auth
//	legacy proxy and redirect paths                           TestOldVerbs in test/auth
//	tokens that one authenticator refused and others accept   TestRefusedElsewhere in test/auth
//	certificates on requests that are pending or denied       TestCertificateStates in test/auth
//	Secrets of bootstrap tokens with odd fields               TestOddBootstrapSecrets in test/auth
//	anonymous access to the ConfigMap cluster-info            TestClusterInfo in test/auth
//	tokens in volumes, by the serving key; bad key files      TestVolumeTokens, TestServingKeyVerifies, TestFaultyFiles in test/auth
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
//	the same, for large lists                                 TestStalledLists; test/process TestStalledReaders
//	lists that fail after a part was sent                     TestBrokenStream
//	many concurrent large lists in every representation       test/process TestListMemory
//	a thousand slow clients                                   TestSlowCrowd
//	large Content-Length, without authentication              TestAnnouncedBodies
//	large bodies that arrive slowly                           TestBodyBudget
//	cross-site requests and WebSockets from browsers          TestForeignPages
//	more connections than descriptors or than the limit       TestDescriptorsRunOut, TestSilentConnections in test/process
//	idle anonymous connections, many large request heads      TestNewConnsAmongAnonymous, TestLargeHeadEviction in http
//	anonymous, slow and stalled connections at once           TestManyConnections in test/process
//	large Content-Length under a memory limit                 TestAnnouncedBodies in http
//	stalled clients that hold the memory for responses        TestResponseBudget in http
//	clients that disconnect at random moments                 TestStress in http
//	recovery that needs more memory than serving              TestRecoveryNeedsNoMoreThanServing in test/process
//	large updates that fill the watch history                 TestHistoryIsBounded, TestOwnersOfLargeObjectsLeaveNothing in test/process
//	requests under memory pressure                            TestScarceMemory in test/process
//	incomplete requests during shutdown                       TestHalfSentRequests in test/process
//
// The rules of the certificate signers (alternative names, CA flag, usages) and admission webhooks
// are tested in their own packages.
package security
