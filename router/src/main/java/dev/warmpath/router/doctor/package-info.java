/**
 * {@code warmpath doctor}: examines a fleet before a router serves it, and says what to change.
 *
 * <pre>{@code
 * RouterConfig ─▶ FleetProbe ─▶ FleetFacts ─▶ Checks ─▶ Finding … ─▶ DoctorReport
 *                  HttpProbe, StreamProbe,     a Check
 *                  TrialProbe, PairProbe, …    for each question
 * }</pre>
 *
 * <p>Start with {@link DoctorReport}, then {@link Checks}, the list of all questions. Probes ask
 * and never judge: {@link FleetProbe} asks replicas as a router would and puts the answers into
 * {@code …Facts}. Checks judge and never ask: a new one is a {@link Checks.Check} and its line in
 * {@link Checks}.
 */
@NullMarked
package dev.warmpath.router.doctor;

import org.jspecify.annotations.NullMarked;
