package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads a whole template: data, output and the tags of Jinja2, of its loop controls, and {@code
 * generation}.
 *
 * <p>Confined to its thread.
 */
public final class TemplateParser {
  private static final Set<String> RESERVED =
      Set.of("true", "True", "false", "False", "none", "None");

  private final TokenStream in;
  private final ExpressionParser expressions;
  private final BlockParser blocks;
  private final boolean stock;
  private int loops;
  private int fors;

  private TemplateParser(TokenStream in, boolean stock) {
    this.in = in;
    this.stock = stock;
    this.expressions = new ExpressionParser(in);
    this.blocks = new BlockParser(in, expressions, this);
  }

  /**
   * The tree of a template.
   *
   * @param budget what reading may cost
   * @throws TemplateException of kind SYNTAX when Jinja2 would not take it either
   */
  public static Statement.Scoped parse(String template, Budget budget) {
    return parse(template, budget, false);
  }

  /** The tree as Jinja2 itself reads it, which has no {@code generation}. */
  public static Statement.Scoped parseStock(String template, Budget budget) {
    return parse(template, budget, true);
  }

  private static Statement.Scoped parse(String template, Budget budget, boolean stock) {
    TokenStream in = new TokenStream(Lexer.tokens(template, budget), budget);
    List<Statement> body = new TemplateParser(in, stock).statements(Set.of());
    return new Statement.Scoped(body, in.height(body), 1);
  }

  /** Statements up to a tag with one of these names, whose name is then current. */
  List<Statement> statements(Set<String> endTags) {
    List<Statement> body = new ArrayList<>();
    while (true) {
      Token token = in.next();
      switch (token.kind()) {
        case DATA -> body.add(in.noted(new Statement.Data(token.text(), token.line())));
        case VARIABLE_BEGIN -> body.add(output());
        case BLOCK_BEGIN -> {
          if (in.at(Token.Kind.NAME) && endTags.contains(in.current().text())) {
            return body;
          }
          body.add(in.noted(statement()));
          in.expect(Token.Kind.BLOCK_END, "end of statement block");
        }
        default -> {
          if (!endTags.isEmpty()) {
            throw in.failure("Unexpected end of template, looking for one of " + endTags);
          }
          return body;
        }
      }
    }
  }

  /** The body of a tag: what stands between its end and an end tag, which stays current. */
  List<Statement> body(Set<String> endTags) {
    in.skipOperator(":");
    in.expect(Token.Kind.BLOCK_END, "end of statement block");
    in.enter();
    List<Statement> body = statements(endTags);
    in.leave();
    return body;
  }

  /** The same with one end tag, whose name is skipped. */
  List<Statement> bodyTo(String endTag) {
    List<Statement> body = body(Set.of(endTag));
    in.next();
    return body;
  }

  /** All of a {@code for}, in which nobody may assign to {@code loop}. */
  private Statement inFor(Supplier<Statement> loop) {
    fors++;
    Statement statement = loop.get();
    fors--;
    return statement;
  }

  List<Statement> loopBody(Set<String> endTags) {
    loops++;
    List<Statement> body = body(endTags);
    loops--;
    return body;
  }

  /** The body of something called: loops around it are not its own. */
  List<Statement> calledBody(String endTag) {
    int around = loops;
    loops = 0;
    List<Statement> body = bodyTo(endTag);
    loops = around;
    return body;
  }

  private Statement output() {
    int line = in.line();
    Expression value = expressions.tuple();
    in.expect(Token.Kind.VARIABLE_END, "end of print statement");
    return in.noted(new Statement.Output(value, line));
  }

  private Statement statement() {
    Token tag = in.expect(Token.Kind.NAME, "tag name");
    int line = tag.line();
    if (stock && tag.text().equals("generation")) {
      throw in.failure("Encountered unknown tag 'generation'.");
    }
    for (Unsupported kind : List.of(Unsupported.BLOCK_TAG, Unsupported.TAG)) {
      if (kind.has(tag.text())) {
        return blocks.refused(kind, tag.text(), line);
      }
    }
    return switch (tag.text()) {
      case "set" -> set(line);
      case "for" -> inFor(() -> blocks.forLoop(line));
      case "if" -> blocks.ifElse(line);
      case "macro" -> blocks.macro(line);
      case "call" -> blocks.callBlock(line);
      case "generation" -> blocks.generation(line);
      case "break", "continue" -> jump(tag);
      default -> throw in.failure("Encountered unknown tag '" + tag.text() + "'.");
    };
  }

  private Statement jump(Token tag) {
    if (loops == 0) {
      throw in.failure("'" + tag.text() + "' outside loop");
    }
    return new Statement.Jump(tag.text().equals("break"), tag.line());
  }

  private Statement set(int line) {
    Expression target = stored("", true);
    if (in.skipOperator("=")) {
      return new Statement.Assign(target, expressions.tuple(), line);
    }
    Expression.Filter filter = filterChain(null);
    return new Statement.AssignBlock(target, filter, bodyTo("endset"), line);
  }

  Expression.@Nullable Filter filterChain(Expression.@Nullable Filter first) {
    Expression.Filter filter = first;
    while (in.skipOperator("|")) {
      filter = expressions.operands().filter(filter);
    }
    return filter;
  }

  /** The target of an assignment or a loop. */
  Expression stored(String endName, boolean withNamespaces) {
    Expression target = target(endName, withNamespaces);
    target.walk(node -> {
      if (fors > 0 && node instanceof Expression.Name name && name.name().equals("loop")) {
        throw in.failure("Can't assign to special loop variable in for-loop target");
      }
    });
    return target;
  }

  /** Names to assign to, several as a tuple, up to {@code =}, the tag's end or this name. */
  Expression target(String endName, boolean withNamespaces) {
    List<Expression> targets = new ArrayList<>();
    boolean isTuple = false;
    while (!atTargetEnd(endName)) {
      targets.add(singleTarget(withNamespaces));
      if (!in.skipOperator(",")) {
        break;
      }
      isTuple = true;
    }
    if (targets.isEmpty()) {
      throw in.failure("Expected a target, got " + in.current().described());
    }
    return isTuple ? in.noted(new Expression.Sequence(true, targets)) : targets.get(0);
  }

  private boolean atTargetEnd(String endName) {
    return in.at(Token.Kind.BLOCK_END)
        || in.atOperator("=")
        || in.atOperator(")")
        || in.atName(endName);
  }

  private Expression singleTarget(boolean withNamespaces) {
    in.enter();
    Expression target;
    if (in.skipOperator("(")) {
      target = target("", withNamespaces);
      in.expectOperator(")");
    } else {
      String name = assignableName();
      boolean namespaced = withNamespaces && in.skipOperator(".");
      target =
          namespaced
              ? new Expression.NamespaceTarget(name, in.expect(Token.Kind.NAME, "a name").text())
              : new Expression.Name(name);
    }
    in.leave();
    return in.noted(target);
  }

  String assignableName() {
    String name = in.expect(Token.Kind.NAME, "a name").text();
    if (RESERVED.contains(name)) {
      throw in.failure("can't assign to '" + name + "'");
    }
    return name;
  }

  Signature signature() {
    in.expectOperator("(");
    List<String> parameters = new ArrayList<>();
    List<Expression> defaults = new ArrayList<>();
    while (!in.atOperator(")")) {
      if (!parameters.isEmpty()) {
        in.expectOperator(",");
      }
      parameters.add(assignableName());
      if (in.skipOperator("=")) {
        defaults.add(expressions.expression());
      } else if (!defaults.isEmpty()) {
        throw in.failure("non-default argument follows default argument");
      }
    }
    in.expectOperator(")");
    return in.noted(new Signature(parameters, defaults));
  }

  /**
   * Reads the tags that have a body; the tag's name is behind.
   *
   * <p>Confined to its thread.
   */
  private static final class BlockParser {
    private static final Set<String> FOR_ENDS = Set.of("endfor", "else");
    private static final Set<String> IF_ENDS = Set.of("elif", "else", "endif");

    private final TokenStream in;
    private final ExpressionParser expressions;
    private final TemplateParser template;

    BlockParser(TokenStream in, ExpressionParser expressions, TemplateParser template) {
      this.in = in;
      this.expressions = expressions;
      this.template = template;
    }

    Statement forLoop(int line) {
      Expression target = template.stored("in", false);
      in.expectName("in");
      Expression items = expressions.tuple(false, "recursive");
      Expression filter = in.skipName("if") ? expressions.expression() : null;
      boolean recursive = in.skipName("recursive");
      Statement.Loop loop = new Statement.Loop(target, items, filter, recursive);
      List<Statement> body = template.loopBody(FOR_ENDS);
      boolean hasElse = in.next().isName("else");
      List<Statement> otherwise = hasElse ? template.bodyTo("endfor") : List.of();
      return new Statement.For(loop, body, otherwise, in.height(body), line);
    }

    Statement ifElse(int line) {
      List<Statement.Branch> branches = new ArrayList<>();
      int branchLine = line;
      while (true) {
        Expression test = expressions.tuple(false, "");
        branches.add(new Statement.Branch(test, template.body(IF_ENDS), branchLine));
        Token end = in.next();
        branchLine = end.line();
        if (end.isName("else")) {
          return new Statement.If(branches, template.bodyTo("endif"), line);
        }
        if (end.isName("endif")) {
          return new Statement.If(branches, List.of(), line);
        }
      }
    }

    Statement macro(int line) {
      String name = template.assignableName();
      Signature signature = template.signature();
      List<Statement> body = template.calledBody("endmacro");
      return new Statement.Macro(name, signature, body, in.height(body), line);
    }

    Statement callBlock(int line) {
      Signature signature = in.atOperator("(") ? template.signature() : Signature.NONE;
      if (!(expressions.expression() instanceof Expression.Call call)) {
        throw in.failure("expected call");
      }
      List<Statement> body = template.calledBody("endcall");
      return new Statement.CallBlock(call, signature, body, in.height(body), line);
    }

    /** A tag that is refused, with its body if it has one, which is read for its end alone. */
    Statement refused(Unsupported kind, String tag, int line) {
      while (!in.at(Token.Kind.BLOCK_END) && !in.at(Token.Kind.END)) {
        in.next();
      }
      if (kind == Unsupported.BLOCK_TAG) {
        template.bodyTo("end" + tag);
        while (!in.at(Token.Kind.BLOCK_END) && !in.at(Token.Kind.END)) {
          in.next();
        }
      }
      return new Statement.Refused(kind.of(tag), line);
    }

    Statement generation(int line) {
      List<Statement> body = template.calledBody("endgeneration");
      return new Statement.Scoped(body, in.height(body), line);
    }
  }
}
