// Package security attacks a running daemon over TLS, mostly with raw bytes, and checks the
// answers that the design's list of attacks demands. Each test names one attack. No test here
// looks into the daemon; how fast an answer comes is not tested.
//
//	attack                                                    test
//	two ends of a body, folds, control bytes, other hosts     TestSmuggling
//	headers behind the body, for a proxy or a caller          TestTrailers
//	headers that change who asks by their order               TestOrderOfHeaders
//	dots, slashes, escapes and cases in paths                 TestTargets
//	large, deep, aliased and growing bodies, copies           TestBombs
//	what could not be read again: times, depth, raw values    TestPoison
//	stored bytes that nobody can read                         TestQuarantine
//	hostile values by the plan, every kind, every format      TestHostileObjects
//	escapes, defaults, copies, parts and faults that grow     TestSizes
//	many large writes at a time                               TestLargeBatch
//	lists of tens of thousands of items                       TestLongLists
//	continue tokens of another type or namespace              TestContinueTokens
//	empty, wrong and double bearer tokens                     TestBearerTokens
//	identity headers without the proxy's certificate          TestForgedProxyHeaders
//	impersonation without the right, a user, or its case      TestImpersonation
//	identity tokens: alg, keys, issuer, audience, times       TestForgedIdentityTokens
//	account tokens: the same, and what they are bound to      TestForgedAccountTokens
//	account tokens of what is deleted, or made again          TestRevokedAccountTokens
//	certificates: time, CA, use, name                         TestClientCertificates
//	roles and bindings above one's own rights                 TestEscalation
//	resourceNames on what has no name                         TestResourceNames
//	creating by an update or an apply                         TestCreation
//	certificate requests for masters, nodes, in other names   TestCertificateRequests
//	approving and signing without the right, or elsewhere     TestCertificateApproval
//	trust that was stored before it was looked at             TestStoredBundles
//	rules that cost gigabytes or minutes, before they do      TestCostlyExpressions
//	definitions too deep, with too many or too long rules     TestCostlyDefinitions
//	what was set aside, when its namespace or definition go   TestUnreadableIsDeleted
//	definitions of built-in kinds, also below validation      TestTakeoverByDefinition, TestTakeoverFromStore
//	sub-resources past rights, fields and validation          TestSubresources
//	token webhooks that redirect, flood, lie                  TestHostileTokenWebhook
//	authorization webhooks that do                            TestHostileAuthorizationWebhook
//	watches after account, token, Pod, role or binding go     TestWatchesEnd in test/auth
//	watches by the word of remotes that take it back          TestWatchesOfRemotes in test/auth
//	modes that deny everybody                                 TestAlwaysDeny in test/auth
//	old paths to proxies and redirects                        TestOldVerbs in test/auth
//	tokens that one provider has refused, shown to others     TestRefusedElsewhere in test/auth
//	certificates on requests that are pending or denied       TestCertificateStates in test/auth
//	Secrets of bootstrap tokens with odd fields               TestOddBootstrapSecrets in test/auth
//	what anybody may read before they trust the server        TestClusterInfo in test/auth
//	tokens of volumes, and of the serving key; bad files      TestVolumeTokens, TestServingKeyVerifies, TestFaultyFiles in test/auth
//	control characters and secrets in log and metrics         TestLogsAndMetrics
//	forged, unbounded and missing audit lines                 TestAuditForgery
//	who it was, in the audit                                  TestAuditIdentity
//	credentials and Secrets in the audit                      TestAuditSecrets
//	tokens in queries, however their parameters are spelled   TestAuditQueries
//	bodies that grow in the audit                             TestAuditBombs
//	objects in the refusals of patches                        TestFailedPatches
//	names that no path can hold                               TestUnnameable
//	headers and bodies that do not end                        TestSlowHeaders
//	readers that take nothing                                 TestSlowReaders
//	readers of large lists that take nothing                  TestStalledLists; test/process TestStalledReaders
//	lists whose middle cannot be made                         TestBrokenStream
//	large lists in every form, many at a time                 test/process TestListMemory
//	a thousand slow clients                                   TestSlowCrowd
//	large bodies that are announced, by anybody               TestAnnouncedBodies
//	large bodies that come slowly                             TestBodyBudget
//	pages that write or open sockets for who looks at them    TestForeignPages
//	more connections than descriptors, or than are allowed    TestDescriptorsRunOut, TestSilentConnections in test/process
//	strangers who ask once and wait, many large heads         TestNewConnsAmongAnonymous, TestLargeHeadEviction in http
//	strangers, slow bodies and stalled readers at once        TestManyConnections in test/process
//	bodies that are announced where memory is limited         TestAnnouncedBodies in http
//	stalled readers, and an administrator's list              TestResponseBudget in http
//	clients that go at any moment                             TestStress in http
//	more memory at a start than while serving                 TestRecoveryNeedsNoMoreThanServing in test/process
//	updates of large objects that watches could still see     TestHistoryIsBounded, TestOwnersOfLargeObjectsLeaveNothing in test/process
//	requests while there is little memory left                TestScarceMemory in test/process
//	half-sent requests when the daemon ends                   TestHalfSentRequests in test/process
//
// What a signer of certificates refuses (foreign alternative names, a CA bit, changed usages),
// and admission webhooks, are tested where they are built.
package security
