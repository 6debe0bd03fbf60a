package dev.warmpath.kvindex.hammer;

/**
 * What readers may count on.
 *
 * <p>Immutable.
 *
 * @param oneInstant whether the answers for all engines must belong to one state, rather than those
 *     for each engine alone
 * @param clearsAtOnce whether an engine that leaves or is cleared must lose all it held in one
 *     state, rather than little by little
 */
record Strictness(boolean oneInstant, boolean clearsAtOnce) {}
