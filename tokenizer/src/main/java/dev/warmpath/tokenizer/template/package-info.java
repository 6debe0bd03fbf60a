/**
 * Chat templates: Jinja2 as the engines run it, compiled once and run with Python's values.
 *
 * <pre>{@code
 * source ─▶ syntax.TemplateParser ─▶ Statement tree ─▶ StatementCompiler ─▶ Program
 *                                                      ExpressionCompiler
 * values ─▶ ChatTemplate.render ─▶ Program.run (Frame: variables) ─▶ Output ─▶ text
 * }</pre>
 *
 * <p>Start with {@link ChatTemplate}. {@link StatementCompiler} and {@link ExpressionCompiler} turn
 * the tree into {@link Exec}s and {@link Eval}s, with names resolved by {@link Scope} beforehand.
 * {@link ContentFormat} finds out whether a template wants message content as a list. {@link
 * TemplateCache} keeps the templates that requests bring along. Parsing is in {@code syntax}, what
 * values can do in {@code value}, Jinja2's own filters, tests, functions and methods in {@code
 * builtin}.
 */
@NullMarked
package dev.warmpath.tokenizer.template;

import org.jspecify.annotations.NullMarked;
