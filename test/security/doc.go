// Package security attacks a running daemon over TLS, mostly with raw bytes, and checks the
// answers that the design's list of attacks demands. Each test names one attack. No test here
// looks into the daemon; how fast an answer comes is not tested.
//
//	attack                                                    test
//	two ends of a body, folds, control bytes, other hosts     TestSmuggling
//	headers behind the body, for a proxy or a caller          TestTrailers
//	dots, slashes, escapes and cases in paths                 TestTargets
//	large, deep, aliased and growing bodies, copies           TestBombs
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
//	sub-resources past rights, fields and validation          TestSubresources
//	token webhooks that redirect, flood, lie                  TestHostileTokenWebhook
//	authorization webhooks that do                            TestHostileAuthorizationWebhook
//	control characters and secrets in log and metrics         TestLogsAndMetrics
//	forged, unbounded and missing audit lines                 TestAuditForgery
//	who it was, in the audit                                  TestAuditIdentity
//	credentials and Secrets in the audit                      TestAuditSecrets
//	headers and bodies that do not end                        TestSlowHeaders
//	readers that take nothing                                 TestSlowReaders
//	a thousand slow clients                                   TestSlowCrowd
//
// What a signer of certificates refuses (foreign alternative names, a CA bit, changed usages),
// and admission webhooks, are tested where they are built.
package security
