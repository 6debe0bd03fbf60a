/**
 * Studies of virtual fleets: policies compared, fleets sized, engine speeds fitted to a decision
 * log.
 *
 * <pre>{@code
 * Trace, grid of Cells ─▶ Study ─▶ VirtualFleet, once a seed ─▶ RunFigures ─▶ Study.CellFigures
 *                     ─▶ ReportCell ─▶ StudyReport ─▶ StudyTable, CellsCsv, CellsJson, HtmlPage
 * Trace, goal   ─▶ FleetSize ─▶ VirtualFleet of each size ─▶ PlanReport
 * decision log  ─▶ CostFit (EngineEquations, LeastErrors) ─▶ an engine's CostModel
 * }</pre>
 *
 * <p>Start with {@link Study}. {@link Oracle} is what one cache for the whole fleet would have hit,
 * {@link StudyComparison} sets two studies side by side. {@link HtmlPage} draws with {@link
 * BarPlot} and {@link LinePlot}. {@link FleetSize} answers {@code simulate plan}, {@link CostFit}
 * {@code simulate fit}. {@link Distribution}, {@link Estimate} and {@link Spread} make few figures
 * of many values; benches use them too.
 */
@NullMarked
package dev.warmpath.simulator.study;

import org.jspecify.annotations.NullMarked;
