/**
 * Chat templates: Jinja2 as the engines run it, compiled once and run with Python's values.
 *
 * <pre>{@code
 * source ─▶ syntax.TemplateParser ─▶ Statement tree ─▶ StatementCompiler ─▶ Exec, of Evals
 *                                                      ExpressionCompiler
 * values ─▶ ChatTemplate.render ─▶ Exec (Frame: variables) ─▶ Output ─▶ text
 *                               ─▶ syntax.TemplateException: the template's error, or a limit
 * }</pre>
 *
 * <p>Start with {@link ChatTemplate}. {@link StatementCompiler} makes an {@link Exec} of each
 * statement, {@link ExpressionCompiler} an {@link Eval} of each expression; {@link Scope} knows
 * meanwhile which place in the {@link Frame} a name has. {@code chat.TemplateError} tells what a
 * failure means for a prompt. {@link ContentFormat} finds out whether a template wants message
 * content as a list. {@link TemplateCache} keeps the templates that requests bring along. Parsing
 * is in {@code syntax}, what values can do in {@code value}, Jinja2's own filters, tests, functions
 * and methods in {@code builtin}.
 */
@NullMarked
package dev.warmpath.tokenizer.template;

import org.jspecify.annotations.NullMarked;
