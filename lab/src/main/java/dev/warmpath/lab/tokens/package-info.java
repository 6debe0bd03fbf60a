/**
 * {@code bench tokenize}, and {@code tokenize --goldens} and {@code --against}: what rendering and
 * encoding cost, and whether they give what Jinja2 and running engines give.
 *
 * <pre>{@code
 * chats of agents ─▶ TokenizeBench, step by step ─▶ Samples
 * Oddities ─▶ TokenComparison ◀─ EngineTokenizeClient                           --against an engine
 * recorded files ─▶ CompareTokensCommand ─▶ equal or not                       --goldens
 * }</pre>
 *
 * <p>Start with {@link TokenizeBench} for cost, {@link CompareTokensCommand} for equality. {@link
 * Oddities} makes odd requests of each API.
 */
@NullMarked
package dev.warmpath.lab.tokens;

import org.jspecify.annotations.NullMarked;
