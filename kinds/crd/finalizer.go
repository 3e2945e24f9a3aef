package crd

// CleanupFinalizer, in the platform naming profile, keeps a deleted CRD until its objects are
// removed.
const CleanupFinalizer = "customresourcecleanup.apiextensions.platform.io"
