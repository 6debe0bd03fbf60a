package dev.warmpath.kvindex.stopped;

import static org.objectweb.asm.Opcodes.GETFIELD;
import static org.objectweb.asm.Opcodes.IALOAD;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.POP2;
import static org.objectweb.asm.Opcodes.SALOAD;

import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Puts stops into one class, and takes the versions out of the mutant's method.
 *
 * <p>Confined to one thread.
 */
final class StoppableClass extends ClassVisitor {

  private static final String STOP = Type.getInternalName(ReadStop.class);
  private static final String VAR_HANDLE = "java/lang/invoke/VarHandle";

  private final @Nullable VersionMutant mutant;
  private String name = "";

  StoppableClass(ClassVisitor next, @Nullable VersionMutant mutant) {
    super(Opcodes.ASM9, next);
    this.mutant = mutant;
  }

  @Override
  public void visit(
      int version,
      int access,
      String name,
      @Nullable String signature,
      @Nullable String superName,
      String @Nullable [] interfaces) {
    this.name = name;
    super.visit(version, access, name, signature, superName, interfaces);
  }

  @Override
  public MethodVisitor visitMethod(
      int access,
      String method,
      String descriptor,
      @Nullable String signature,
      String @Nullable [] exceptions) {
    boolean mute = mutant != null && mutant.isWrongIn(name, method);
    return new StoppableMethod(
        super.visitMethod(access, method, descriptor, signature, exceptions), mute);
  }

  /** One of its methods. Confined to one thread. */
  private static final class StoppableMethod extends MethodVisitor {

    private final boolean mute;

    private StoppableMethod(MethodVisitor next, boolean mute) {
      super(Opcodes.ASM9, next);
      this.mute = mute;
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode >= IALOAD && opcode <= SALOAD) {
        stop();
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String field, String descriptor) {
      if (opcode == GETFIELD) {
        stop();
      }
      super.visitFieldInsn(opcode, owner, field, descriptor);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String method, String descriptor, boolean isInterface) {
      if (owner.equals(VAR_HANDLE)) {
        stop();
      }
      if (mute && VersionMutant.changesVersion(owner, method)) {
        super.visitInsn(POP2);
      } else {
        super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
      }
    }

    private void stop() {
      super.visitMethodInsn(INVOKESTATIC, STOP, "here", "()V", false);
    }
  }
}
