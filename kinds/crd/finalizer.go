package crd

// CleanupFinalizer, in platform form, keeps a deleted CRD until its objects are removed.
const CleanupFinalizer = "customresourcecleanup.apiextensions.platform.io"
