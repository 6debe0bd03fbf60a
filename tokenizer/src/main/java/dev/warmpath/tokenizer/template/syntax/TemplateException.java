package dev.warmpath.tokenizer.template.syntax;

/**
 * A template could not be parsed or rendered. The message holds no values of the request beyond
 * names.
 *
 * <p>Carries no stack trace: a template that raises is an ordinary outcome.
 */
public final class TemplateException extends RuntimeException {

  /** What stopped the template. */
  public enum Kind {
    /** Not a template: Jinja2 refuses to compile it. */
    SYNTAX,
    /** Jinja2 raises here too. */
    RAISED,
    /** Jinja2 may render this; here it is not known how to, exactly. */
    UNSUPPORTED,
    /** A bound on output, work or depth was reached. */
    LIMIT
  }

  private final Kind kind;
  private final int line;

  private TemplateException(Kind kind, String message, int line) {
    super(message, null, false, false);
    this.kind = kind;
    this.line = line;
  }

  public static TemplateException syntax(String message, int line) {
    return new TemplateException(Kind.SYNTAX, message, line);
  }

  public static TemplateException raised(String message) {
    return new TemplateException(Kind.RAISED, message, 0);
  }

  public static TemplateException unsupported(String message) {
    return new TemplateException(Kind.UNSUPPORTED, message, 0);
  }

  public static TemplateException limit(String message) {
    return new TemplateException(Kind.LIMIT, message, 0);
  }

  /** The same failure, placed; a failure that has its line keeps it. */
  public TemplateException at(int templateLine) {
    return line > 0 ? this : new TemplateException(kind, bareMessage(), templateLine);
  }

  public Kind kind() {
    return kind;
  }

  /** The template's line, counted from 1; 0 when not known. */
  public int line() {
    return line;
  }

  /** The message without the line. */
  public String bareMessage() {
    String message = super.getMessage();
    return message == null ? kind.name() : message;
  }

  @Override
  public String getMessage() {
    return line > 0 ? "line " + line + ": " + bareMessage() : bareMessage();
  }
}
