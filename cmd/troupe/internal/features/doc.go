// Package features knows the feature gates: switches of single features, by the names that the flag --feature-gates has
// in kube-apiserver.
//
//	Gate  one of them: its stage, its default, and whether the daemon reads it
//	Set   the value of each gate, by the defaults and by what was set
//
// gates.txt lists the gates of kube-apiserver 1.35 and of its libraries, and APIListChunking, HPAContainerMetrics and
// RootCAConfigMap, which later releases have always on. A test in test/api compares it with the public libraries.
//
// A gate is effective if the daemon reads it, even for a part of the feature. The others are accepted, so that a
// configuration for another server can be used, and are named by Set.Ineffective. Locked ones are listed because flags of
// other servers may name them. A gate that is on without one that it needs is an error, since the user may have meant the
// other one to be off. Only the wiring asks for a gate by its name; packages have options of their own.
//
// A Set never changes after New, so any number of goroutines may read it without a lock.
package features
