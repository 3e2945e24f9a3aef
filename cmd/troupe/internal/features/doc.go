// Package features implements the feature gates of the --feature-gates flag.
//
//	Gate  one feature gate: its stage, its default, and whether the daemon reads it
//	Set   the value of each gate
//
// gates.txt lists the gates of kube-apiserver 1.37 and its libraries, plus APIListChunking,
// HPAContainerMetrics and RootCAConfigMap, which are always on in later releases. A test in
// test/api compares gates.txt with the public libraries.
//
// A gate is effective if the daemon reads it, even if only for a part of the feature. Other gates
// are accepted for compatibility, and Set.Ineffective returns them. Enabling a gate without its
// dependencies is an error.
package features
