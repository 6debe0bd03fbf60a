package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Reads the tags that have a body; the tag's name is behind.
 *
 * <p>Confined to its thread.
 */
final class BlockParser {
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
