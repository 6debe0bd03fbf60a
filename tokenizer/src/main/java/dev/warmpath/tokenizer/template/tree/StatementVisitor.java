package dev.warmpath.tokenizer.template.tree;

/** One answer per kind of {@link Statement}. Confined to its thread. */
public interface StatementVisitor<R> {
  R scoped(Statement.Scoped scoped);

  R data(Statement.Data data);

  R output(Statement.Output output);

  R forLoop(Statement.For loop);

  R ifElse(Statement.If choice);

  R macro(Statement.Macro macro);

  R callBlock(Statement.CallBlock block);

  R assign(Statement.Assign assign);

  R assignBlock(Statement.AssignBlock block);

  R jump(Statement.Jump jump);

  R refused(Statement.Refused refused);
}
