// SPDX-License-Identifier: GPL-2.0
/* Loads on System V semaphores and POSIX message queues; no thread waits. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

#include "record/load/load_user.h"

#define SEMS 2

static const char sysv_sem_help[] = "threads that raise, lower and test System V semaphores";

static int sysv_sem_setup(const uint64_t *number, void **priv)
{
	int *id = malloc(sizeof(*id));

	if (!id)
		return -ENOMEM;
	*id = semget(IPC_PRIVATE, SEMS, 0600);
	*priv = id;
	return *id < 0 ? -errno : 0;
}

static int sysv_sem_step(struct kl_user_task *t)
{
	struct sembuf op = {
		.sem_num = kl_user_below(t, SEMS), .sem_op = (int)kl_user_below(t, 5) - 2,
		.sem_flg = IPC_NOWAIT,
	};

	return semop(*(int *)t->priv, &op, 1) && errno != EAGAIN ? -errno : 1;
}

static int sysv_sem_teardown(void *priv)
{
	return semctl(*(int *)priv, 0, IPC_RMID) ? -errno : 0;
}

static const struct kl_user_kind sysv_sem_kind = {
	.name = "sysv_sem", .tasks = 4, .setup = sysv_sem_setup, .step = sysv_sem_step,
	.teardown = sysv_sem_teardown,
};
KL_USER_LOAD(sysv_sem);

enum { MQ_MESSAGES, MQ_PRIORITIES };

static const char mqueue_help[] = "threads that send to and receive from a POSIX message queue; "
				  "messages=8, priorities=4";

static int mqueue_setup(const uint64_t *number, void **priv)
{
	struct mq_attr attr = { .mq_maxmsg = number[MQ_MESSAGES], .mq_msgsize = sizeof(uint64_t) };
	mqd_t *mq = malloc(sizeof(*mq));
	char name[32];

	if (!mq)
		return -ENOMEM;
	snprintf(name, sizeof(name), "/klin.%d", getpid());
	*mq = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &attr);
	*priv = mq;
	if (*mq < 0)
		return -errno;
	mq_unlink(name);
	return 0;
}

static int mqueue_step(struct kl_user_task *t)
{
	unsigned int priority = kl_user_below(t, t->number[MQ_PRIORITIES]);
	uint64_t value = kl_user_value(t);
	mqd_t mq = *(mqd_t *)t->priv;
	ssize_t n;

	if (kl_user_below(t, 2))
		n = mq_send(mq, (char *)&value, sizeof(value), priority);
	else
		n = mq_receive(mq, (char *)&value, sizeof(value), &priority);
	return n < 0 && errno != EAGAIN ? -errno : 1;
}

static const struct kl_user_kind mqueue_kind = {
	.name = "mqueue", .tasks = 4, .setup = mqueue_setup, .step = mqueue_step,
	.numbers = {
		[MQ_MESSAGES] = { "messages", 1, 65536, 8 },
		[MQ_PRIORITIES] = { "priorities", 1, 4, 4 },
	},
};
KL_USER_LOAD(mqueue);
