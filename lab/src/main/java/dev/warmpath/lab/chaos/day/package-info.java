/**
 * The ordinary day of a router: what engines, clients, files and clocks do without any fault of
 * theirs, or with a fault that a fleet must outlive.
 *
 * <p>Start reading at {@link dev.warmpath.lab.chaos.day.OrdinaryDay}: it starts a router in a
 * process of its own with a small heap, in front of {@link
 * dev.warmpath.lab.chaos.day.ScriptedEngine}s, plays one scene after another, and writes what
 * happened to a {@link dev.warmpath.lab.chaos.day.DayReport}. Beside the scenes {@link
 * dev.warmpath.lab.chaos.day.HealthWatch} asks for {@code /health} all day long.
 *
 * <pre>
 *   scene ──HTTP──▶ router process ──HTTP──▶ scripted engines
 *   HealthWatch ──▶ /health                     (each request names what its engine does)
 * </pre>
 */
@NullMarked
package dev.warmpath.lab.chaos.day;

import org.jspecify.annotations.NullMarked;
